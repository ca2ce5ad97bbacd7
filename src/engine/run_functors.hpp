#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/run_values.hpp"
#include "gpulog/options.hpp"
#include "kernels/steps/functor_table.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// The functors that the rules of a run call: functions of the caller, and of shared libraries, which are opened by the
/// first search and closed with this object.
class run_functors {
 public:
  run_functors(const run_options& options, const std::map<std::string, std::string>& pragmas);

  /// Finds the functors of a program before any file is read; Soufflé misses a functor at its first call.
  /// @param needed by relation: whether the relation's rules run
  /// @throws input_error for a missing function, or a function of other types
  void find(const sema::program& program, const std::vector<bool>& needed, const run_options& options,
            run_values& values);

  /// Returns the files of the open libraries.
  [[nodiscard]] std::vector<std::string> library_files() const;

  /// Returns nullptr for a program without functors.
  [[nodiscard]] const kernels::functor_table* table() const { return table_ ? &*table_ : nullptr; }

 private:
  struct closer {
    void operator()(void* library) const;
  };

  void open();
  bool open(const std::string& path);
  /// Returns an existing path, as given or relative to the base; empty if no such file exists.
  [[nodiscard]] std::string existing(const std::string& path) const;
  [[nodiscard]] void* function_of(const user_functor& described, const sema::rule& caller);

  std::vector<std::string> names_;
  std::vector<std::string> directories_;
  std::string base_;  ///< empty: no base
  bool opened_ = false;
  std::vector<std::unique_ptr<void, closer>> libraries_;
  std::string failures_;  ///< reasons why libraries could not be opened
  std::optional<kernels::functor_table> table_;
};

}  // namespace gpulog::detail
