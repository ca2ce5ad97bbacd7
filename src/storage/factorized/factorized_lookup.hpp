#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "backend/array.hpp"
#include "storage/factorized/factorized_values.hpp"
#include "storage/factorized/path_labels.hpp"
#include "storage/factorized/tuple_places.hpp"

namespace gpulog::storage {

/// What finds rows of one factorized relation by their values, made when it is first asked for. Any number of threads
/// ask it, each with a factorized_reader of its own. All but the simple figures throw backend::memory_exceeded.
class factorized_lookup {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// The values outlive it.
  factorized_lookup(backend::memory_resource& resource, const factorized_values& values)
      : resource_(&resource), values_(&values) {}

  [[nodiscard]] const factorized_values& values() const { return *values_; }
  [[nodiscard]] backend::memory_resource& resource() const { return *resource_; }
  [[nodiscard]] std::uint64_t bytes() const;

  /// Vertex of a tuple of sources, value(c) in source column c; none: it is no source.
  template <class Value>
  [[nodiscard]] std::uint32_t vertex_of(const Value& value) {
    std::call_once(sources_made_, [this] { place_sources(); });
    const std::uint32_t place = source_places_.find(value);
    return place == tuple_places::none ? none : vertices_[place];
  }
  /// Component of a tuple of values; none: it is no value.
  template <class Value>
  [[nodiscard]] std::uint32_t component_of(const Value& value) {
    std::call_once(values_made_, [this] { place_values(); });
    const std::uint32_t place = value_places_.find(value);
    return place == tuple_places::none ? none : components_[place];
  }
  [[nodiscard]] const path_labels& labels() {
    std::call_once(labels_made_, [this] { make_labels(); });
    return *labels_;
  }
  /// From components to the vertices that lead to them.
  [[nodiscard]] list_view predecessors() {
    std::call_once(predecessors_made_, [this] { turn_around(); });
    return {predecessor_first_.data(), predecessors_.data()};
  }
  /// How many values each vertex leads to: the work of counting all rows once.
  [[nodiscard]] const std::uint64_t* value_counts() {
    std::call_once(counts_made_, [this] { count_values(); });
    return value_counts_.data();
  }
  /// Whether counting all at once takes no longer than what it has cost so far.
  [[nodiscard]] bool counts_all() {
    std::call_once(count_steps_told_, [this] { tell_count_steps(); });
    return static_cast<double>(steps()) >= count_steps_;
  }
  /// Whether each component has a value, so that who leads to one leads to a value.
  [[nodiscard]] bool all_have_values() {
    std::call_once(values_made_, [this] { place_values(); });
    return all_have_values_;
  }

  /// Steps along edges, and values that were listed, since it was made: what it has cost so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// Until when reading this way is thought to cost less than columns would. Set while nobody reads.
  [[nodiscard]] std::uint64_t most_steps() const { return most_steps_; }
  void grant(std::uint64_t steps) { most_steps_ = steps; }
  void add_steps(std::uint64_t steps) { steps_.fetch_add(steps, std::memory_order_relaxed); }

 private:
  void place_sources();
  void place_values();
  void make_labels();
  void turn_around();
  void count_values();
  void tell_count_steps();

  backend::memory_resource* resource_;
  const factorized_values* values_;
  std::once_flag sources_made_;
  std::once_flag values_made_;
  std::once_flag labels_made_;
  std::once_flag predecessors_made_;
  std::once_flag counts_made_;
  std::once_flag count_steps_told_;
  tuple_places source_places_;
  tuple_places value_places_;
  backend::array<std::uint32_t> vertices_;    // by place of a source
  backend::array<std::uint32_t> components_;  // by place of a value
  bool all_have_values_ = false;
  std::optional<path_labels> labels_;
  backend::array<std::uint32_t> predecessor_first_;  // by component, and one more at the end
  backend::array<std::uint32_t> predecessors_;
  backend::array<std::uint64_t> value_counts_;  // by vertex
  double count_steps_ = 0;
  std::atomic<std::uint64_t> steps_ = 0;
  std::uint64_t most_steps_ = UINT64_MAX;
};

}  // namespace gpulog::storage
