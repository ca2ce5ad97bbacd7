#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpulog/options.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// By number: whether a rule calls the functor. The others need not be in any library.
[[nodiscard]] std::vector<bool> called_functors(const sema::program& analysed, const std::vector<bool>& needed);

/// The shared libraries that functors are looked for in; opened with the first search, closed with this object.
class functor_libraries {
 public:
  functor_libraries(const run_options& options, const std::map<std::string, std::string>& pragmas);

  /// Returns nullptr if no library has the functor.
  [[nodiscard]] void* find(const std::string& name);
  /// What is said of one that none of them has.
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
