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

/// Converts records and branches between Python objects and the texts in Arrow arrays. Iterative, so that lists of any
/// length work.
class structures {
 public:
  /// @param records constructors of records from their fields, by type name
  /// @param branch constructor of a branch from its name and fields; instances have `name` and `fields`
  structures(const gpulog::program& source, nb::dict records, nb::object branch);

  /// Appends the text of a record (a sequence, a mapping, or None) or a branch.
  [[nodiscard]] reading append_text(nb::handle value, const std::string& structure, std::string& into) const;

  /// @param text in gpulog's format, with quoted symbols
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
