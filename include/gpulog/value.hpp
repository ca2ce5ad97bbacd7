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

/// A value of a tuple; its alternative has to fit the attribute's type. One of another width than the program's words
/// is taken where it is the same value. A text is taken for a record or a branch, too: as a file of facts has it.
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

// Values have an order, so that rows can be sorted and be keys; it is not the order of a program's `ord`.
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

/// Records and branches that are nested deeper, or have more values in them, are no `value`, but have a text.
inline constexpr std::size_t deepest_value = 1024;
inline constexpr std::size_t largest_value = std::size_t{1} << 20;

/// A field of a record or a branch.
struct field {
  std::string name;
  std::string type;       ///< one of number, unsigned, float, symbol, record, adt
  std::string structure;  ///< of a record or a branch: the name of its structured_type
};

/// A record type or an algebraic data type, as the text declares it.
struct structured_type {
  struct branch_declaration {
    std::string name;
    std::vector<field> fields;
  };
  std::string name;
  std::string type;                          ///< record or adt
  std::vector<field> fields;                 ///< of a record
  std::vector<branch_declaration> branches;  ///< of an algebraic data type, in the order of their names
};

}  // namespace gpulog
