#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/relation/relation.hpp"

/// Record steps on a tile of bindings.
namespace gpulog::kernels {

/// A worker's cache of recent record lookups: adjacent bindings often need the same records, and the tables are shared
/// and locked.
class record_memory {
 public:
  /// Returns n * arity words for the fields of a tile.
  word* fields_of(std::size_t words) {
    fields_.resize(words);
    return fields_.data();
  }
  /// Returns the cached record with these fields, or nil_record.
  [[nodiscard]] word find(const storage::record_table& table, const word* fields, std::uint64_t hash) const {
    const entry& kept = entries_[place_of(hash)];
    const bool is_it = kept.table == &table && std::equal(fields, fields + table.arity(), table.fields(kept.record));
    return is_it ? kept.record : storage::nil_record;
  }
  void keep(const storage::record_table& table, word record, std::uint64_t hash) {
    if (record != storage::nil_record) entries_[place_of(hash)] = {&table, record};
  }

 private:
  struct entry {
    const storage::record_table* table = nullptr;
    word record = storage::nil_record;
  };
  static constexpr std::size_t size = 512;
  static std::size_t place_of(std::uint64_t hash) { return hash % size; }

  std::vector<word> fields_;
  std::array<entry, size> entries_;
};

/// Runs a step of kind pack or find_record on n <= tile_rows bindings. value(register) returns a register of the tile.
/// Stores the record in result[i], and whether it exists in found[i].
template <class Value>
void look_up_records(const step& one, std::uint32_t n, const Value& value, word* result, std::uint8_t* found,
                     record_memory& memory) {
  storage::record_table& table = *one.records;
  const std::size_t arity = one.arguments.size();
  word* const fields = memory.fields_of(arity * n);
  for (std::size_t c = 0; c < arity; ++c) {
    const word* const values = value(one.arguments[c]);
    for (std::uint32_t i = 0; i < n; ++i) fields[i * arity + c] = values[i];
  }
  const auto is_repeated = [&](std::uint32_t i) {
    const word* const own = fields + i * arity;
    return i != 0 && std::equal(own, own + arity, own - arity);
  };
  std::uint64_t hashes[storage::tile_rows];
  for (std::uint32_t i = 0; i < n; ++i) {
    if (is_repeated(i)) continue;
    hashes[i] = table.hash_of(fields + i * arity);
    result[i] = memory.find(table, fields + i * arity, hashes[i]);
    if (result[i] == storage::nil_record) table.prefetch(hashes[i]);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    if (is_repeated(i)) {
      result[i] = result[i - 1];
    } else if (result[i] == storage::nil_record) {
      const word* const own = fields + i * arity;
      result[i] =
          one.kind == step_kind::pack ? table.intern(own, hashes[i]) : std::as_const(table).find(own, hashes[i]);
      memory.keep(table, result[i], hashes[i]);
    }
    found[i] = result[i] != storage::nil_record ? 1 : 0;
  }
}

/// Runs a step of kind unpack. own(register) returns a register to write.
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
