#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/staging_ring.hpp"
#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// Uploads host rows and builds a pipeline that inserts the rows into a device relation, so that loading is a regular
/// pipeline.
template <class Relation>
class row_loader {
 public:
  row_loader(const backend::gpu::device_context& context, backend::memory_resource& resource, Relation& target,
             const std::vector<const word*>& columns, std::uint64_t rows)
      : staged_(resource, rows * std::max<std::uint32_t>(1, target.arity()), backend::fresh_memory::anything) {
    kernels::segment& only = program.segments.emplace_back();
    only.kind = kernels::expansion_kind::unit;
    program.slot_count = target.arity();
    for (std::uint32_t c = 0; c < target.arity(); ++c) {
      word* const staged = staged_.data() + c * rows;
      context.staging().upload(columns[c], staged, rows * sizeof(word));
      on_device.push_back(staged);
      program.head.push_back(c);
      only.carried.push_back(c);
    }
    relations.emplace_back(&target);
  }
  ~row_loader() { relations.front().release(); }  // `relations` does not own the target
  row_loader(const row_loader&) = delete;
  row_loader& operator=(const row_loader&) = delete;

  kernels::pipeline program;
  kernels::relation_list<Relation> relations;
  std::vector<const word*> on_device;  ///< by register

 private:
  backend::array<word> staged_;
};

}  // namespace gpulog::exec
