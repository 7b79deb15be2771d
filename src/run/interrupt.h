/// SIGINT and SIGTERM ask a run to stop at the end of its step; the same signal a
/// second time ends the program at once. (Another one does not: launchers pass a terminal's SIGINT on as SIGTERM.)
#pragma once

namespace penumbra {

void listen_for_interrupts();
bool interrupted();

}  // namespace penumbra
