#include "io/apart.h"

#include <omp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/error.h"

namespace penumbra::io {
namespace {

enum Answer : char { result = 'r', bad_input = 'i', failure = 'f' };

bool write_all(int pipe, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const auto written = ::write(pipe, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

std::string read_all(int pipe) {
  std::string bytes;
  char part[1 << 16];
  while (true) {
    const auto got = ::read(pipe, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(part, static_cast<size_t>(got));
  }
}

/// What came of it, then one letter that says which it is.
std::string answer_of(const std::function<std::string()>& work) {
  std::string answer;
  try {
    answer = work();
    answer += result;
  } catch (const InputError& error) {
    answer = error.what();
    answer += bad_input;
  } catch (const std::exception& error) {
    answer = error.what();
    answer += failure;
  }
  return answer;
}

/// Never returns. The threads of the parent are not here: no loop may be shared among them.
[[noreturn]] void work_and_exit(const std::function<std::string()>& work, int pipe, uint64_t seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would take the answer
  omp_set_num_threads(1);
  const rlimit no_core{0, 0}, time{seconds, seconds};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &time);
  ::_exit(write_all(pipe, answer_of(work)) ? 0 : 1);
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string run_apart(const std::function<std::string()>& work, const std::string& name, const std::string& reader,
                      uint64_t seconds) {
  int ends[2];
  if (::pipe(ends) != 0) machine_error("{}: no pipe to read it through: {}", name, std::strerror(errno));
  const auto process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    work_and_exit(work, ends[1], seconds);
  }
  ::close(ends[1]);
  auto answer = process < 0 ? std::string() : read_all(ends[0]);
  ::close(ends[0]);
  if (process < 0) machine_error("{}: no process to read it in: {}", name, std::strerror(errno));
  const auto status = wait_for(process);
  if (status != 0 || answer.empty())
    input_error("{}: {} could not cope with it{}; is the file damaged?", name, reader,
                WIFSIGNALED(status) ? fmt::format(" ({})", strsignal(WTERMSIG(status))) : "");
  const auto kind = answer.back();
  answer.pop_back();
  if (kind == bad_input) throw InputError(answer);
  if (kind == failure) machine_error("{}: {}", name, answer);
  return answer;
}

}  // namespace penumbra::io
