#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/program.hpp"
#include "gpulog/value.hpp"
#include "values.hpp"

namespace gpulog_python {

namespace nb = nanobind;

/// Records and branches of a program: as Python has them, and as the texts that Arrow arrays have. Lists of any length
/// are possible: nothing here is recursive.
class structures {
 public:
  /// @param records what makes a record of its fields, by the names of the record types
  /// @param branch what makes a branch of its name and its fields; its instances have `name` and `fields`
  structures(const gpulog::program& source, nb::dict records, nb::object branch);

  /// Appends the text of a record (a sequence, a mapping, or None) or a branch.
  [[nodiscard]] reading append_text(nb::handle value, const std::string& structure, std::string& into) const;

  /// @param text as gpulog makes it, symbols in quotes
  [[nodiscard]] nb::object object_of(std::string_view text, const std::string& structure) const;

 private:
  friend class text_of_structures;
  friend class objects_of_text;

  std::map<std::string, gpulog::structured_type, std::less<>> types_;
  nb::dict records_;
  nb::object branch_;
  bool is_wide_;
};

}  // namespace gpulog_python
