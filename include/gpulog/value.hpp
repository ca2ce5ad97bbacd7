#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpulog {

/// The record `nil`.
struct nil_record {
  explicit constexpr nil_record() = default;
};
inline constexpr nil_record nil{};

struct record;
class branch;

/// A value of a tuple; the alternative must match the attribute's type. A value of different width is accepted if the
/// program's word size can represent it. Records and branches may also be given as text, as in a fact file.
using value = std::variant<std::int32_t, std::uint32_t, float, std::string, std::int64_t, std::uint64_t, double,
                           nil_record, record, branch>;

/// A record by its fields: `record{{1, "a"}}`.
struct record {
  std::vector<value> fields;
};

/// A value of an algebraic data type: `branch("Node", {branch("Leaf"), 3})`.
class branch {
 public:
  explicit branch(std::string name, std::vector<value> fields = {})
      : name_(std::move(name)), fields_(std::move(fields)) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<value>& fields() const { return fields_; }

 private:
  std::string name_;
  std::vector<value> fields_;
};

// Values are ordered, so that rows can be sorted and used as keys; the order differs from a program's `ord`.
inline bool operator==(nil_record /*left*/, nil_record /*right*/) { return true; }
inline bool operator<(nil_record /*left*/, nil_record /*right*/) { return false; }
bool operator==(const record& left, const record& right);
bool operator<(const record& left, const record& right);
bool operator==(const branch& left, const branch& right);
bool operator<(const branch& left, const branch& right);
inline bool operator==(const record& left, const record& right) { return left.fields == right.fields; }
inline bool operator<(const record& left, const record& right) { return left.fields < right.fields; }
inline bool operator==(const branch& left, const branch& right) {
  return left.name() == right.name() && left.fields() == right.fields();
}
inline bool operator<(const branch& left, const branch& right) {
  return left.name() != right.name() ? left.name() < right.name() : left.fields() < right.fields();
}

/// Limits on nesting and size of records and branches as `value`; beyond, only the text is available.
inline constexpr std::size_t deepest_value = 1024;
inline constexpr std::size_t largest_value = std::size_t{1} << 20;

/// A field of a record or a branch.
struct field {
  std::string name;
  std::string type;       ///< number, unsigned, float, symbol, record or adt
  std::string structure;  ///< for a record or a branch: the name of its structured_type
};

/// A record type or an algebraic data type, as declared.
struct structured_type {
  struct branch_declaration {
    std::string name;
    std::vector<field> fields;
  };
  std::string name;
  std::string type;                          ///< record or adt
  std::vector<field> fields;                 ///< for a record
  std::vector<branch_declaration> branches;  ///< for an algebraic data type, sorted by name
};

}  // namespace gpulog
