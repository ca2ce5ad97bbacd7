#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/pipeline.hpp"
#include "storage/relation.hpp"

/// Records of a tile of bindings.
namespace gpulog::kernels {

/// Runs a step of the kinds pack and find_record. value(register) gives a register of the tile; fields: scratch space.
/// n: at most a tile. result[i]: the record, found[i]: whether there is one.
template <class Value>
void look_up_records(const step& one, std::uint32_t n, const Value& value, word* result, std::uint8_t* found,
                     std::vector<word>& fields) {
  const std::size_t arity = one.arguments.size();
  fields.resize(arity * n);
  for (std::size_t c = 0; c < arity; ++c) {
    const word* const values = value(one.arguments[c]);
    for (std::uint32_t i = 0; i < n; ++i) fields[i * arity + c] = values[i];
  }
  std::uint64_t hashes[storage::tile_rows];
  for (std::uint32_t i = 0; i < n; ++i) {
    hashes[i] = one.records->hash_of(fields.data() + i * arity);
    one.records->prefetch(hashes[i]);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const word* const own = fields.data() + i * arity;
    const word record = one.kind == step_kind::pack ? one.records->intern(own, hashes[i])
                                                    : std::as_const(*one.records).find(own, hashes[i]);
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
