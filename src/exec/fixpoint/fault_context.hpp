#pragma once

#include <string>

#include "backend/memory_resource.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// The operation on a relation during which memory ran out.
struct fault_context {
  const char* doing;
  relation_id relation;
  const plan::rule_version* version;  ///< nullptr: no rule
};

/// Returns the error message for the user.
template <class Relation>
[[nodiscard]] std::string describe_shortage(const fault_context& context, const plan::program& program,
                                            const Relation& relation, const backend::memory_exceeded& fault,
                                            const backend::memory_resource& resource) {
  std::string text = "Out of memory while " + std::string(context.doing) + " relation " +
                     program.relations[context.relation.value].name + " (" +
                     std::to_string(relation.rows() + relation.appended_rows()) + " tuples, " +
                     std::to_string(relation.bytes()) + " bytes): " + backend::shortage(fault, resource);
  if (context.version != nullptr)
    text += "\nin rule:\n" + context.version->text + "\nin file " + context.version->location;
  return text;
}

}  // namespace gpulog::exec
