#include "run/interrupt.h"

#include <csignal>

namespace penumbra {
namespace {

volatile std::sig_atomic_t signalled = 0;

void handle(int signal) {
  if (signalled == signal) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  signalled = signal;
}

}  // namespace

void listen_for_interrupts() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

bool interrupted() { return signalled != 0; }

}  // namespace penumbra
