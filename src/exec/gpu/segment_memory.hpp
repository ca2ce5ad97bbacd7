#pragma once

#include <vector>

#include "backend/array.hpp"
#include "storage/indexes/key_level.hpp"
#include "storage/relation/views.hpp"

namespace gpulog::exec {

/// Enlarges a buffer if necessary, discarding its contents.
template <class T>
void ensure(backend::array<T>& buffer, std::uint64_t size) {
  if (buffer.size() >= size) return;
  backend::memory_resource& resource = buffer.resource();
  buffer.release();
  buffer = backend::array<T>(resource, size + size / 2, backend::fresh_memory::anything);
}

/// Buffers of an aggregate, for a part of the input rows.
struct fold_memory {
  explicit fold_memory(backend::memory_resource& resource)
      : representatives(resource),
        groups(resource),
        kept(resource),
        counts(resource),
        sums(resource),
        words(resource),
        wide_words(resource),
        body(resource),
        results(resource) {}
  backend::array<std::uint32_t> representatives;  // by row
  backend::array<std::uint32_t> groups;           // rows that represent a group
  backend::array<std::uint32_t> kept;             // rows whose group has a value
  backend::array<std::uint64_t> counts;           // by representative row, like sums and words
  backend::array<double> sums;
  backend::array<word> words;
  backend::array<wide_word> wide_words;  // replaces words for 64-bit programs
  backend::array<word> body;             // [carried][group]
  backend::array<word> results;          // [result or its halves, registers carried past the aggregate][kept row]
};

/// Device memory of one segment, reused from run to run.
struct segment_memory {
  explicit segment_memory(backend::memory_resource& resource)
      : offsets(resource),
        ranges(resource),
        chosen(resource),
        scratch(resource),
        table(resource),
        table_counter(resource, 1),
        made(resource),
        owners(resource),
        fold(resource) {}
  backend::array<std::uint64_t> offsets;
  backend::array<storage::row_range> ranges;
  backend::array<std::uint8_t> chosen;  // by row: the chosen search
  backend::array<std::uint8_t> scratch;
  backend::array<word> table;  // [output][row]
  backend::array<storage::gpu::append_counter> table_counter;
  backend::array<word> made;             // output of a range or of host steps: [register][row]
  backend::array<std::uint32_t> owners;  // input rows of a range
  fold_memory fold;
  std::vector<std::vector<word>> on_host;  // by register: rows for host steps
};

}  // namespace gpulog::exec
