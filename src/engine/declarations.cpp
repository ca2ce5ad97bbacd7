#include "engine/declarations.hpp"

#include <string>

#include "gpulog/error.hpp"
#include "sema/types/types.hpp"
#include "support/suggestion.hpp"

namespace gpulog::detail {

namespace {

std::string structure_name(const value_type& type, const sema::program& program) {
  const bool is_structured = type.kind == value_kind::record || type.kind == value_kind::adt;
  return is_structured ? program.structures[type.structure.value].name : std::string();
}

std::vector<field> fields_of(const std::vector<field_type>& fields, const sema::program& program) {
  std::vector<field> result;
  for (const field_type& one : fields) {
    result.push_back({one.name, std::string(sema::kind_name(one.type.kind)), structure_name(one.type, program)});
  }
  return result;
}

}  // namespace

std::vector<attribute> attributes_of(const sema::relation& declared, const sema::program& program) {
  std::vector<attribute> result;
  for (const sema::attribute& column : declared.attributes) {
    result.push_back({column.name, std::string(sema::kind_name(column.kind)), column.type_name,
                      structure_name({column.kind, column.structure}, program)});
  }
  return result;
}

std::vector<structured_type> types_of(const sema::program& program) {
  std::vector<structured_type> result;
  for (const structure_type& one : program.structures) {
    structured_type& type = result.emplace_back();
    type.name = one.name;
    type.type = sema::kind_name(one.kind);
    type.fields = fields_of(one.fields, program);
    for (const branch_type& branch : one.branches) {
      type.branches.push_back({branch.name, fields_of(branch.fields, program)});
    }
  }
  return result;
}

relation_id relation_named(std::string_view name, const sema::program& program) {
  if (const auto found = program.find_relation(std::string(name))) return *found;
  std::vector<std::string> names;
  for (const sema::relation& relation : program.relations) names.push_back(relation.name);
  throw input_error("There is no relation " + std::string(name) + did_you_mean(name, names));
}

}  // namespace gpulog::detail
