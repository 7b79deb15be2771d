/// SIGINT and SIGTERM ask a run to stop at the end of its step; a second signal ends the program at once.
#pragma once

namespace penumbra {

void listen_for_interrupts();
bool interrupted();

}  // namespace penumbra
