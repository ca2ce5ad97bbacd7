#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpulog/options.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// Returns the first rule that calls each functor, by number; nullptr: no rule calls the functor, and no library needs
/// to have it.
[[nodiscard]] std::vector<const sema::rule*> functor_callers(const sema::program& analysed,
                                                             const std::vector<bool>& needed);

/// The shared libraries of functors; opened by the first search, closed with this object.
class functor_libraries {
 public:
  functor_libraries(const run_options& options, const std::map<std::string, std::string>& pragmas);

  /// Returns nullptr if no library has the functor.
  [[nodiscard]] void* find(const std::string& name);
  /// Returns the message for a functor that no library has.
  [[nodiscard]] std::string missing(const std::string& name) const;

 private:
  struct closer {
    void operator()(void* library) const;
  };

  void open();
  bool open(const std::string& path);
  /// Returns an existing path, as given or relative to the base; empty if no such file exists.
  [[nodiscard]] std::string existing(const std::string& path) const;

  std::vector<std::string> names_;
  std::vector<std::string> directories_;
  std::string base_;  ///< empty: no base
  bool opened_ = false;
  std::vector<std::unique_ptr<void, closer>> libraries_;
  std::string failures_;  ///< reasons why libraries could not be opened
};

}  // namespace gpulog::detail
