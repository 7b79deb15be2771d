/// The name of a command line's parser, for headers. Its own header (CLI11) costs a file five seconds: only those that
/// declare options include it.
#pragma once

namespace CLI {
class App;
}
