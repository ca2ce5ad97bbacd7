#include "engine/tuning.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "gpulog/error.hpp"
#include "support/suggestion.hpp"

namespace gpulog {
namespace detail {
namespace {

/// An option and the function that reads its value.
/// @return whether the value is valid
struct tuning_entry {
  tuning_choice choice;
  std::function<bool(std::string_view value, tuning& into)> read;
};

constexpr const char* on_or_off = "on or off";
constexpr const char* any_mode = "auto, on or off";

bool read_switch(std::string_view value, bool& into) {
  into = value == "on";
  return into || value == "off";
}

bool read_mode(std::string_view value, tuning_mode& into) {
  constexpr std::array<std::pair<std::string_view, tuning_mode>, 3> modes = {
      {{"off", tuning_mode::off}, {"auto", tuning_mode::automatic}, {"on", tuning_mode::on}}};
  const auto* const found =
      std::find_if(modes.begin(), modes.end(), [value](const auto& mode) { return mode.first == value; });
  if (found == modes.end()) return false;
  into = found->second;
  return true;
}

bool read_factor(std::string_view value, double& into) {
  constexpr double most = 1000;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), into);
  if (failure != std::errc{} || end != value.data() + value.size()) return false;
  return into == 0 || (into >= 1 && into <= most);
}

bool read_joins(std::string_view value, exec::join_mode& into) {
  into = value == "nested" ? exec::join_mode::nested : exec::join_mode::materialized;
  return value == "nested" || value == "materialized";
}

void switch_pass(const std::string& name, bool runs, plan::options& planning) {
  if (runs) {
    planning.off.erase(name);
  } else {
    planning.off.insert(name);
  }
}

tuning_entry entry_of(const plan::optional_pass& pass) {
  const std::string name(pass.name);
  const std::string description(pass.description);
  if (pass.has_modes) {
    return {{name, any_mode, "auto", description}, [name](std::string_view value, tuning& into) {
              tuning_mode& mode = into.passes[name];
              if (!read_mode(value, mode)) return false;
              switch_pass(name, mode != tuning_mode::off, into.planning);
              return true;
            }};
  }
  const bool is_off = plan::passes_off_by_default.contains(name);
  return {{name, on_or_off, is_off ? "off" : "on", description}, [name](std::string_view value, tuning& into) {
            bool runs = false;
            if (!read_switch(value, runs)) return false;
            switch_pass(name, runs, into.planning);
            return true;
          }};
}

std::vector<tuning_entry> make_entries() {
  std::vector<tuning_entry> entries;
  for (const plan::optional_pass& pass : plan::optional_passes()) entries.push_back(entry_of(pass));
  entries.push_back(
      {{"dense-domain-encoding", any_mode, "auto",
        "values that are only compared get consecutive numbers while a program runs, for bit matrices"},
       [](std::string_view value, tuning& into) { return read_mode(value, into.dense_domain_encoding); }});
  entries.push_back({{"reoptimization", any_mode, "auto",
                      "joins of a stratum are ordered again when the sizes of what it reads are known"},
                     [](std::string_view value, tuning& into) { return read_mode(value, into.reoptimization); }});
  entries.push_back({{"condensation", any_mode, "auto",
                      "recursions that fall apart run over the strongly connected components of their graph (CPU)"},
                     [](std::string_view value, tuning& into) { return read_mode(value, into.condensation); }});
  entries.push_back({{"continuation", any_mode, "auto",
                      "an engine that is evaluated again goes on from facts that were inserted (CPU)"},
                     [](std::string_view value, tuning& into) { return read_mode(value, into.continuation); }});
  entries.push_back({{"row-takeover", any_mode, "auto",
                      "searches of recursions that fall apart take over what others have completed (GPU)"},
                     [](std::string_view value, tuning& into) { return read_mode(value, into.row_takeover); }});
  entries.push_back({{"priority-delta", on_or_off, "on",
                      "an iteration takes the best new values of recursive aggregates first; worse ones wait (CPU)"},
                     [](std::string_view value, tuning& into) { return read_switch(value, into.priority_delta); }});
  entries.push_back({{"buffer-factor", "0, or a number from 1 to 1000", "8",
                      "a merge buffer gets room for full + this times delta (--storage hisa); 0: just enough"},
                     [](std::string_view value, tuning& into) { return read_factor(value, into.buffer_factor); }});
  entries.push_back({{"joins", "materialized or nested", "materialized",
                      "joins of three and more atoms: through temporary tables, or nested loops (--storage hisa, GPU)"},
                     [](std::string_view value, tuning& into) { return read_joins(value, into.joins); }});
  return entries;
}

const std::vector<tuning_entry>& all_entries() {
  static const std::vector<tuning_entry> entries = make_entries();
  return entries;
}

const tuning_entry* find_entry(std::string_view name) {
  const auto& entries = all_entries();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [name](const auto& entry) { return entry.choice.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

/// @return an error message; empty on success
std::string read(std::string_view name, std::string_view value, tuning& into) {
  const tuning_entry* const entry = find_entry(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const tuning_entry& one : all_entries()) names.emplace_back(one.choice.name);
    return fmt::format("there is no choice '{}'{}", name, did_you_mean(name, names));
  }
  if (entry->read(value, into)) return {};
  return fmt::format("{} may only be {}, not '{}'", name, entry->choice.values, value);
}

}  // namespace

plan::options tuning::chosen_planning() const {
  plan::options chosen = planning;
  if (mode_of("magic-sets") == tuning_mode::on) chosen.magic_sets = plan::magic_sets_mode::always;
  if (mode_of("semi-join-reduction") == tuning_mode::on) chosen.semi_joins = plan::semi_join_mode::always;
  if (mode_of("magic-transform") == tuning_mode::on) chosen.magic_transform = plan::magic_transform_mode::always;
  return chosen;
}

tuning tuning_of(const run_options& options) {
  tuning result;
  for (const auto& [name, value] : options.tuning) {
    if (const std::string fault = read(name, value, result); !fault.empty()) throw input_error("tuning: " + fault);
  }
  // Later questions about tuples require complete relations.
  if (options.proofs) result.planning.off.insert({"unneeded-relations", "magic-sets", "magic-transform"});
  // The published algorithm evaluates recursions as loops.
  if (options.storage == storage_kind::hisa) result.planning.off.insert("decomposition");
  // The parts of a decomposed recursion use steps that run before the recursion.
  if (!result.runs("decomposition")) result.planning.off.insert("invariant-columns");
  return result;
}

}  // namespace detail

const std::vector<tuning_choice>& tuning_choices() {
  static const std::vector<tuning_choice> choices = [] {
    std::vector<tuning_choice> all;
    for (const detail::tuning_entry& entry : detail::all_entries()) all.push_back(entry.choice);
    return all;
  }();
  return choices;
}

std::string tuning_fault(std::string_view name, std::string_view given) {
  detail::tuning ignored;
  return detail::read(name, given, ignored);
}

}  // namespace gpulog
