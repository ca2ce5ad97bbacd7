#include "exec/strategies/search/kept_lookup.hpp"

#include "storage/representation/kept_row_visits.cuh"

namespace gpulog::exec {

using storage::gpu::kept_question;
using storage::gpu::kept_rows_view;

namespace {

struct note_used_nodes {
  std::uint32_t* used;
  __device__ void operator()(std::uint32_t /*source*/, std::uint32_t number, std::uint32_t bits) const {
    // Most rows add no new nodes.
    const std::uint32_t there = *static_cast<const volatile std::uint32_t*>(used + number);
    if ((there & bits) != bits) atomicOr(used + number, bits);
  }
};

}  // namespace

void kept_lookup::make(const backend::gpu::device_context& context, backend::memory_resource& resource,
                       const kept_rows_view& rows) {
  constexpr std::size_t questions = static_cast<std::size_t>(kept_question::node) + 1;
  backend::array<kept_rows_view> made(resource, questions, backend::fresh_memory::anything);
  views_ = std::move(made);
  rows_ = rows;
  for (std::size_t i = 0; i < questions; ++i) put(context, static_cast<kept_question>(i));
}

const kept_rows_view* kept_lookup::view(const backend::gpu::device_context& context, kept_question asked) {
  if (asked == kept_question::node && used_nodes_.size() == 0) find_used_nodes(context);
  return views_.data() + static_cast<std::size_t>(asked);
}

void kept_lookup::put(const backend::gpu::device_context& context, kept_question asked) {
  kept_rows_view shown = rows_;
  shown.asked = asked;
  shown.used_nodes = used_nodes_.data();
  backend::gpu::copy_async(views_.data() + static_cast<std::size_t>(asked), &shown, sizeof shown,
                           backend::gpu::direction::host_to_device, context.stream());
  context.synchronize();
}

void kept_lookup::find_used_nodes(const backend::gpu::device_context& context) {
  used_nodes_ = backend::array<std::uint32_t>(views_.resource(), rows_.node_words());
  visit_rows(context.stream(), view(context, kept_question::tuple), rows_.source_count, nullptr,
             note_used_nodes{used_nodes_.data()});
  put(context, kept_question::node);
}

}  // namespace gpulog::exec
