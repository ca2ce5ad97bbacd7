#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/pipeline.hpp"

/// Records of a tile of bindings.
namespace gpulog::kernels {

/// Runs a step of the kinds pack and find_record. value(register) gives a register of the tile; fields: scratch space.
/// result[i]: the record, found[i]: whether there is one.
template <class Value>
void look_up_records(const step& one, std::uint32_t n, const Value& value, word* result, std::uint8_t* found,
                     std::vector<word>& fields) {
  fields.resize(one.arguments.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < fields.size(); ++c) fields[c] = value(one.arguments[c])[i];
    const word record = one.kind == step_kind::pack ? one.records->intern(fields.data())
                                                    : std::as_const(*one.records).find(fields.data());
    found[i] = record != storage::nil_record ? 1 : 0;
    result[i] = record;
  }
}

/// Runs a step of the kind unpack. own(register) gives a register to write.
template <class Own>
void unpack_records(const step& one, std::uint32_t n, const word* records, const Own& own, std::uint8_t* found) {
  const storage::record_table& table = *one.records;
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool known = table.has(records[i]);
    found[i] = known ? 1 : 0;
    if (!known) continue;
    const word* const fields = table.fields(records[i]);
    for (const binding& bound : one.bindings) own(bound.target)[i] = fields[bound.column];
  }
}

}  // namespace gpulog::kernels
