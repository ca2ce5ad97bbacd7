#include "engine/declarations.hpp"

#include <string>

#include "gpulog/error.hpp"
#include "sema/types/types.hpp"
#include "support/suggestion.hpp"

namespace gpulog::detail {

std::vector<attribute> attributes_of(const sema::relation& declared) {
  std::vector<attribute> result;
  for (const sema::attribute& column : declared.attributes) {
    result.push_back({column.name, std::string(sema::kind_name(column.kind)), column.type_name});
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
