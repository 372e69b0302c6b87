#pragma once

namespace recorder {

// Installs the handlers of faults and of uncaught exceptions.
void open_guard();

}  // namespace recorder
