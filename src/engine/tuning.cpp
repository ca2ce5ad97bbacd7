#include "engine/tuning.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
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

/// Returns the mode that a value names; empty if the value is invalid.
std::optional<tuning_mode> mode_from_name(std::string_view value, bool has_modes) {
  if (value == "off") return tuning_mode::off;
  if (value == "on") return tuning_mode::always;
  return has_modes && value == "auto" ? std::optional(tuning_mode::automatic) : std::nullopt;
}

bool read_rows(std::string_view value, row_mode& into) {
  constexpr std::pair<std::string_view, row_mode> modes[] = {{"off", row_mode::off},
                                                             {"loop", row_mode::loops},
                                                             {"search", row_mode::searches},
                                                             {"auto", row_mode::automatic},
                                                             {"recursions", row_mode::recursions},
                                                             {"on", row_mode::always}};
  const auto* const named =
      std::find_if(std::begin(modes), std::end(modes), [value](const auto& one) { return one.first == value; });
  if (named != std::end(modes)) into = named->second;
  return named != std::end(modes);
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

/// Returns an entry whose value is a mode.
/// @param modes_of returns the modes that the entry sets
tuning_entry entry_of(std::string_view name, std::string_view description, bool has_modes, bool is_off,
                      tuning_modes& (*modes_of)(tuning& into)) {
  const char* const initial = has_modes ? "auto" : is_off ? "off" : "on";
  return {{std::string(name), has_modes ? any_mode : on_or_off, initial, std::string(description)},
          [name = std::string(name), has_modes, modes_of](std::string_view value, tuning& into) {
            const auto mode = mode_from_name(value, has_modes);
            if (mode) modes_of(into).set(name, *mode);
            return mode.has_value();
          }};
}

std::vector<tuning_entry> make_entries() {
  std::vector<tuning_entry> entries;
  for (const plan::optional_pass& pass : plan::optional_passes()) {
    entries.push_back(entry_of(pass.name, pass.description, pass.has_modes, pass.is_on_request,
                               [](tuning& into) -> tuning_modes& { return into.planning.modes; }));
  }
  const auto add = [&](std::string_view name, std::string_view description, bool has_modes = true) {
    entries.push_back(
        entry_of(name, description, has_modes, false, [](tuning& into) -> tuning_modes& { return into.run; }));
  };
  add("dense-domain-encoding", "number values that rules only compare consecutively, for bit matrices");
  add("reoptimization", "order the joins of a stratum again when the sizes of its inputs are known");
  add("divided-strata", "evaluate a stratum with all ranks");
  add("continuation", "continue from the changed facts when an engine is evaluated again (CPU)");
  add("priority-delta", "process the best new values of recursive aggregates first (CPU)", false);
  entries.push_back({{"rows", "auto, on, off, recursions, search or loop", "auto",
                      "relations are computed row by row; recursions: on, but only for recursions; search: recursions "
                      "by a search per row; loop: recursions as loops"},
                     [](std::string_view value, tuning& into) { return read_rows(value, into.planning.rows); }});
  entries.push_back({{"buffer-factor", "0, or a number from 1 to 1000", "8",
                      "size of a merge buffer: full + this number times delta (--storage hisa); 0: exact size"},
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

tuning tuning_of(const run_options& options) {
  tuning result;
  for (const auto& [name, value] : options.tuning) {
    if (const std::string fault = read(name, value, result); !fault.empty()) throw input_error("tuning: " + fault);
  }
  tuning_modes& modes = result.planning.modes;
  // Later questions about tuples require complete relations.
  if (options.proofs) {
    for (const char* const pass : {"unneeded-relations", "magic-sets", "magic-transform"})
      modes.set(pass, tuning_mode::off);
  }
  // The published algorithm evaluates recursions as loops.
  row_mode& rows = result.planning.rows;
  if (options.storage == storage_kind::hisa && rows != row_mode::off) rows = row_mode::loops;
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
