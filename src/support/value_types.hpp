#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/ids.hpp"

/// Types as far as values are read and written by them: from text to words and back.
namespace gpulog {

/// A record type or an algebraic data type of the program, numbered 0..n-1.
using structure_id = strong_id<struct structure_tag>;

struct value_type {
  value_kind kind = value_kind::number;
  structure_id structure;  ///< of records and algebraic data types
};

struct field_type {
  std::string name;
  value_type type;
};

struct branch_type {
  std::string name;
  std::vector<field_type> fields;
};

/// How the values of a type are words (docs/internals/records.md): a record is the number of its fields in the record
/// table of its arity. A value of an algebraic data type is its branch's number when no branch has fields; else the
/// record [branch, payload], where the payload is the field itself if it is the only one, and else the record of the
/// fields (record_without_fields, if there are none).
struct structure_type {
  std::string name;
  value_kind kind = value_kind::record;
  std::vector<field_type> fields;     ///< of a record
  std::vector<branch_type> branches;  ///< of an algebraic data type, in lexical order of their names

  [[nodiscard]] bool is_enumeration() const {
    for (const branch_type& branch : branches) {
      if (!branch.fields.empty()) return false;
    }
    return kind == value_kind::adt;
  }
};

/// A functor that a library of the user has. Its number is its place in the program's list of them.
struct user_functor {
  std::string name;
  std::vector<value_kind> parameters;
  value_kind result = value_kind::number;
  bool stateful = false;  ///< it gets the symbols and records, and values as words
};

}  // namespace gpulog
