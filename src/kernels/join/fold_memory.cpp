#include "kernels/join/fold_memory.hpp"

#include <algorithm>
#include <mutex>

#include "kernels/calibration.hpp"

namespace gpulog::kernels {

namespace {

/// Returns whether the body of an aggregate calls next_counter, so that no evaluation may be skipped.
bool counts_evaluations(const pipeline& program, std::size_t fold) {
  const auto counts = [](const step& one) {
    return one.kind == step_kind::compute && one.scalar == scalar_op::next_counter;
  };
  for (std::size_t number = fold; number < program.segments[fold].unfold; ++number) {
    const std::vector<step>& steps = program.segments[number].steps;
    if (std::any_of(steps.begin(), steps.end(), counts)) return true;
  }
  return false;
}

}  // namespace

std::uint64_t fold_results::code_of(const fold_keys& keys, std::uint32_t group) const {
  std::uint64_t code = 0;
  for (const word* const column : *keys.columns) code = (code ^ column[keys.rows[group]]) * 0x9E3779B97F4A7C15ULL;
  return code;
}

bool fold_results::is_key(std::uint32_t entry, const fold_keys& keys, std::uint32_t group) const {
  for (std::size_t c = 0; c < width_; ++c) {
    if (keys_[entry * width_ + c] != (*keys.columns)[c][keys.rows[group]]) return false;
  }
  return true;
}

std::uint32_t fold_results::slot_of(const fold_keys& keys, std::uint32_t group) const {
  const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
  std::uint32_t place = static_cast<std::uint32_t>(code_of(keys, group) >> 32) & mask;
  while (slots_[place] != 0 && !is_key(slots_[place] - 1, keys, group)) place = (place + 1) & mask;
  return place;
}

std::uint32_t fold_results::find(const fold_keys& keys, std::uint16_t* groups, std::uint32_t n, fold_result* results) {
  std::uint32_t left = 0;
  {
    const std::shared_lock<std::shared_mutex> reading(mutex_);
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint16_t group = groups[i];
      const std::uint32_t entry = slots_.size() == 0 ? 0 : slots_[slot_of(keys, group)];
      if (entry == 0) {
        groups[left++] = group;
      } else {
        results[group] = results_[entry - 1];
      }
    }
  }
  asked_.fetch_add(n, std::memory_order_relaxed);
  found_.fetch_add(n - left, std::memory_order_relaxed);
  return left;
}

void fold_results::add(const fold_keys& keys, const std::uint16_t* groups, std::uint32_t n, const fold_result* results,
                       std::uint64_t bindings) {
  const std::unique_lock<std::shared_mutex> writing(mutex_);
  if (!is_on()) return;
  bindings_ += bindings;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t group = groups[i];
    if (results_.size() == most_results) break;
    try {
      make_room();
    } catch (const backend::memory_exceeded&) {
      return stop();  // the relations need the memory
    }
    const std::uint32_t place = slot_of(keys, group);
    if (slots_[place] != 0) continue;
    for (const word* const column : *keys.columns) keys_.push_back(column[keys.rows[group]]);
    codes_.push_back(static_cast<std::uint32_t>(code_of(keys, group) >> 32));
    results_.push_back(results[group]);
    slots_[place] = static_cast<std::uint32_t>(results_.size());
  }
  judge();
}

void fold_results::make_room() {
  if (2 * (results_.size() + 1) <= slots_.size()) return;
  const std::uint64_t size = std::max<std::uint64_t>(first_slots, slots_.size() * 4);
  backend::array<std::uint32_t> larger(slots_.resource(), size);
  keys_.reserve(size / 2 * width_);
  codes_.reserve(size / 2);
  results_.reserve(size / 2);
  slots_ = std::move(larger);
  const auto mask = static_cast<std::uint32_t>(size - 1);
  for (std::uint32_t entry = 0; entry < results_.size(); ++entry) {
    std::uint32_t place = codes_[entry] & mask;
    while (slots_[place] != 0) place = (place + 1) & mask;
    slots_[place] = entry + 1;
  }
}

void fold_results::judge() {
  const std::uint64_t known = results_.size();
  const std::uint64_t asked = asked_.load(std::memory_order_relaxed);
  const std::uint64_t found = found_.load(std::memory_order_relaxed);
  const bool are_small = known >= calibration::judged_results && bindings_ < calibration::worthwhile_bindings * known;
  const bool are_new = asked >= calibration::judged_requests && found < asked / calibration::seldom_found;
  if (are_small || are_new) stop();
}

void fold_results::stop() {
  is_on_.store(false, std::memory_order_relaxed);
  slots_.release();
  keys_.release();
  codes_.release();
  results_.release();
}

fold_memory::fold_memory(const pipeline& program, backend::memory_resource& memory)
    : results_(program.segments.size()) {
  for (std::size_t number = 0; number < program.segments.size(); ++number) {
    const segment& here = program.segments[number];
    if (here.kind != expansion_kind::fold || counts_evaluations(program, number)) continue;
    results_[number] = std::make_unique<fold_results>(here.carried.size(), memory);
  }
}

std::shared_ptr<fold_memory> memory_of_folds(const pipeline& program, backend::memory_resource& memory) {
  const bool has_folds = std::any_of(program.segments.begin(), program.segments.end(),
                                     [](const segment& one) { return one.kind == expansion_kind::fold; });
  return has_folds ? std::make_shared<fold_memory>(program, memory) : nullptr;
}

}  // namespace gpulog::kernels
