#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/ids.hpp"

/// Types for reading and writing values: conversion between text and words.
namespace gpulog {

/// A record type or an algebraic data type of the program, numbered 0..n-1.
using structure_id = strong_id<struct structure_tag>;

struct value_type {
  value_kind kind = value_kind::number;
  structure_id structure;  ///< for records and algebraic data types
};

struct field_type {
  std::string name;
  value_type type;
};

struct branch_type {
  std::string name;
  std::vector<field_type> fields;
};

/// How values of a type are encoded as words (docs/internals/records.md): a record is its number in the record table of
/// its arity. A value of an algebraic data type is the number of its branch if no branch has fields; otherwise a record
/// [branch, payload], where the payload is the field of a single-field branch, or else the record of all fields
/// (record_without_fields if the branch has no fields).
struct structure_type {
  std::string name;
  value_kind kind = value_kind::record;
  std::vector<field_type> fields;     ///< for a record
  std::vector<branch_type> branches;  ///< for an algebraic data type, sorted by name

  [[nodiscard]] bool is_enumeration() const {
    for (const branch_type& branch : branches) {
      if (!branch.fields.empty()) return false;
    }
    return kind == value_kind::adt;
  }
};

/// A functor of a user library. The number of a functor is its position in the program's list.
struct user_functor {
  std::string name;
  std::vector<value_kind> parameters;
  value_kind result = value_kind::number;
  bool stateful = false;  ///< receives the symbols and records, and values as words
};

}  // namespace gpulog
