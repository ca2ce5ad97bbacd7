#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/ids.hpp"
#include "support/source.hpp"
#include "support/value_types.hpp"

/// The lattice of types: four primitives, each below its kind (the type of literals and functor results), with subtypes
/// and unions below the primitives.
namespace gpulog::sema {

using type_id = strong_id<struct type_tag>;

enum class type_form : std::uint8_t {
  kind,       ///< all values of one representation: the type of literals and of functor results
  primitive,  ///< number, unsigned, float, symbol
  subtype,    ///< .type A <: B
  union_of,   ///< .type A = B | C
  structure,  ///< records and algebraic data types
};

struct type_description {
  std::string name;
  type_form form = type_form::primitive;
  value_kind kind = value_kind::number;
  type_id base;                   ///< for a primitive or subtype
  std::vector<type_id> elements;  ///< for a union
  structure_id structure;         ///< for kinds record and adt
};

/// The types inside a record type or an algebraic data type; the program's structure_type has the names.
struct structure_fields {
  type_id type;
  std::vector<type_id> fields;                 ///< of a record; invalid for an unknown type (already reported)
  std::vector<std::vector<type_id>> branches;  ///< for an algebraic data type
};

/// A set of types, or all types (unknown).
class type_set {
 public:
  type_set() = default;
  explicit type_set(std::set<type_id> types) : all_(false), types_(std::move(types)) {}
  static type_set none() { return type_set(std::set<type_id>{}); }

  [[nodiscard]] bool is_all() const { return all_; }
  [[nodiscard]] bool empty() const { return !all_ && types_.empty(); }
  /// Returns the members; only meaningful if the set is not all types.
  [[nodiscard]] const std::set<type_id>& members() const { return types_; }
  friend bool operator==(const type_set&, const type_set&) = default;

 private:
  bool all_ = true;
  std::set<type_id> types_;
};

class type_environment {
 public:
  type_environment();

  /// Registers a type under an unused name. An alias is an additional name of an existing type.
  type_id add(type_description description);
  void add_alias(const std::string& name, type_id target);

  [[nodiscard]] std::optional<type_id> find(const std::string& name) const;
  [[nodiscard]] const type_description& operator[](type_id id) const { return types_[id.value]; }
  [[nodiscard]] value_kind kind(type_id id) const { return types_[id.value].kind; }

  /// Adds a record type or an algebraic data type; fields are set after all types have names.
  type_id add_structure(std::string name, value_kind kind);
  [[nodiscard]] structure_fields& structure(structure_id id) { return structures_[id.value]; }
  [[nodiscard]] const structure_fields& structure(structure_id id) const { return structures_[id.value]; }
  /// Returns the type of all values of one representation. Only for number, unsigned, float and symbol.
  [[nodiscard]] type_id of_kind(value_kind kind) const;
  [[nodiscard]] std::vector<std::string> names() const;

  [[nodiscard]] bool is_subtype(type_id below, type_id above) const;
  /// Returns the largest types that are subtypes of both.
  [[nodiscard]] std::set<type_id> greatest_common_subtypes(type_id left, type_id right) const;
  [[nodiscard]] type_set meet(const type_set& left, const type_set& right) const;

  /// Returns for example "number" or "{Apple, Pear}", for messages.
  [[nodiscard]] std::string text(const type_set& types) const;

 private:
  void collect_common(type_id candidate, type_id bound, std::set<type_id>& result) const;

  std::vector<type_description> types_;
  std::vector<structure_fields> structures_;
  std::unordered_map<std::string, type_id> by_name_;
};

/// Returns the primitive type's name: "number", "unsigned", "float", "symbol", "record", "adt".
[[nodiscard]] std::string_view kind_name(value_kind kind);

}  // namespace gpulog::sema
