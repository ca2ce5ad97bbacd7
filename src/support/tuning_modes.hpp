#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace gpulog {

/// The extent of an optimization that never changes results.
enum class tuning_mode : std::uint8_t {
  off,        ///< never
  automatic,  ///< if likely to be worthwhile
  always      ///< wherever it is correct
};

/// The modes of optimizations, by name.
class tuning_modes {
 public:
  using entry = std::pair<const std::string, tuning_mode>;
  tuning_modes() = default;
  tuning_modes(std::initializer_list<entry> modes) : modes_(modes) {}

  void set(std::string_view name, tuning_mode mode) { modes_.insert_or_assign(std::string(name), mode); }
  [[nodiscard]] tuning_mode of(std::string_view name) const {
    const auto mode = modes_.find(name);
    return mode == modes_.end() ? tuning_mode::automatic : mode->second;
  }
  [[nodiscard]] bool is_off(std::string_view name) const { return of(name) == tuning_mode::off; }
  [[nodiscard]] bool is_always(std::string_view name) const { return of(name) == tuning_mode::always; }
  /// Returns the modes that were set.
  [[nodiscard]] auto begin() const { return modes_.begin(); }
  [[nodiscard]] auto end() const { return modes_.end(); }

 private:
  std::map<std::string, tuning_mode, std::less<>> modes_;
};

}  // namespace gpulog
