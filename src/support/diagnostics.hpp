#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/diagnostic.hpp"
#include "support/source.hpp"

namespace gpulog {

/// Warnings by the names that Soufflé's --wno knows them by.
enum class warning_kind : std::uint8_t {
  nameless,
  deprecated_type_declaration,  ///< deprecated-type-decl
  deprecated_qualifier,         ///< deprecated-qualifier
  dollar_sign,                  ///< dollar-sign
  no_rules_nor_facts,           ///< no-rules-nor-facts
  no_subsumptive_rule,          ///< no-subsumptive-rule
  variable_appears_once,        ///< var-appears-once
  useless_doc_comment,          ///< useless-doc-comment
  useless_annotation,           ///< useless-annotation
  unknown_parameter,            ///< unknown-parameter; this and the next one are not Soufflé's
  unknown_pragma,               ///< unknown-pragma
  count
};
/// Nothing for an unknown name.
[[nodiscard]] std::optional<warning_kind> warning_from_name(std::string_view name);
/// All that have one.
[[nodiscard]] std::vector<std::string> warning_names();

/// What the front end has to say about a program. Collects any number of errors and warnings and prints them in order
/// of their places, in Soufflé's form.
class diagnostics {
 public:
  /// A further line of a remark, with a place of its own or none (an invalid span).
  struct attached_note {
    source_span span;
    std::string message;
  };

  /// One remark. `message` has no place and no "Error: "; it may have several lines.
  struct entry {
    severity level = severity::error;
    source_span span;
    std::string message;
    std::vector<attached_note> notes;

    entry& note(const source_span& where, std::string text);
    entry& note(std::string text) { return note({}, std::move(text)); }
  };

  /// The result stays valid; notes may be added to it. A span that is invalid means: no place.
  entry& error(const source_span& where, std::string message);
  entry& error(std::string message) { return error({}, std::move(message)); }
  /// An error because the text ends: more text could make it correct.
  entry& error_at_end(const source_span& where, std::string message);
  /// Does nothing for a kind that is left out.
  void warning(const source_span& where, std::string message, warning_kind kind = warning_kind::nameless);
  void leave_out(warning_kind kind) { left_out_.set(static_cast<std::size_t>(kind)); }

  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  /// Whether the first error is such a one.
  [[nodiscard]] bool is_cut_off() const { return is_cut_off_; }
  [[nodiscard]] std::size_t warning_count() const { return remarks_.size() - errors_; }
  [[nodiscard]] bool empty() const { return remarks_.empty(); }

  /// By place, errors before warnings at the same place, equal remarks once.
  [[nodiscard]] std::vector<const entry*> sorted() const;
  /// sorted() in the form of the public interface.
  [[nodiscard]] std::vector<diagnostic> to_public() const;

  /// All remarks, each with its source line and a caret; closed by "N errors generated, evaluation aborted" when there
  /// are errors.
  void print(std::ostream& out) const;
  [[nodiscard]] std::string to_string() const;

 private:
  std::deque<entry> remarks_;
  std::size_t errors_ = 0;
  bool is_cut_off_ = false;
  std::bitset<static_cast<std::size_t>(warning_kind::count)> left_out_;
};

/// One remark as printed, ending with a newline.
[[nodiscard]] std::string to_string(const diagnostics::entry& remark);

}  // namespace gpulog
