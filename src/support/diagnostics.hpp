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

/// Warnings, by the names that Soufflé's --wno accepts.
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
  unknown_parameter,            ///< unknown-parameter; this warning and the next ones are not in Soufflé
  unknown_pragma,               ///< unknown-pragma
  no_output,                    ///< no-output
  unread_relation,              ///< unread-relation; this warning and the next ones are only for `gpulog lint`
  never_fires,                  ///< never-fires
  cross_product,                ///< cross-product
  repeated_rule,                ///< repeated-rule
  portable,                     ///< portable; only for --portable
  count
};
/// Returns nothing for an unknown name.
[[nodiscard]] std::optional<warning_kind> warning_from_name(std::string_view name);
/// Returns the names of all named warnings.
[[nodiscard]] std::vector<std::string> warning_names();

/// Collects the errors and warnings of the front end and prints them by source position in Soufflé's format.
class diagnostics {
 public:
  /// A further line of a message, with an optional place.
  struct attached_note {
    source_span span;
    std::string message;
  };

  /// A replacement of text that probably corrects the error.
  struct fix {
    source_span span;
    std::string text;
  };

  /// An error or warning. `message` excludes the place and the "Error: " prefix, and may have several lines.
  struct entry {
    severity level = severity::error;
    source_span span;
    std::string message;
    std::vector<attached_note> notes;
    std::vector<fix> fixes;  ///< alternatives

    entry& note(const source_span& where, std::string text);
    entry& note(std::string text) { return note({}, std::move(text)); }
    /// Appends ", did you mean 'x'?" to the message, with the replacement of `wrong` in the text at `span` as a fix.
    /// Does nothing without a name.
    entry& suggest(std::string_view wrong, const std::optional<std::string>& name);
  };

  /// Adds an error. The returned reference stays valid, so notes can be added. An invalid span means: no place.
  entry& error(const source_span& where, std::string message);
  entry& error(std::string message) { return error({}, std::move(message)); }
  /// Adds an error at the end of the text, which more text could fix.
  entry& error_at_end(const source_span& where, std::string message);
  /// Adds a warning unless warnings of this kind are disabled.
  /// @return the warning; nullptr if disabled
  entry* warning(const source_span& where, std::string message, warning_kind kind = warning_kind::nameless);
  void leave_out(warning_kind kind) { left_out_.set(static_cast<std::size_t>(kind)); }
  void keep(warning_kind kind) { left_out_.reset(static_cast<std::size_t>(kind)); }
  [[nodiscard]] bool wants(warning_kind kind) const { return !left_out_[static_cast<std::size_t>(kind)]; }

  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  /// Returns whether the first error was added by error_at_end().
  [[nodiscard]] bool is_cut_off() const { return is_cut_off_; }
  [[nodiscard]] std::size_t warning_count() const { return remarks_.size() - errors_; }
  [[nodiscard]] bool empty() const { return remarks_.empty(); }

  /// Returns the messages by place, errors before warnings at the same place, without duplicates.
  [[nodiscard]] std::vector<const entry*> sorted() const;
  /// Returns sorted() as public diagnostics.
  [[nodiscard]] std::vector<diagnostic> to_public() const;

  /// Prints all messages with their source line and a caret, and finally "N errors generated, evaluation aborted" if
  /// there are errors.
  void print(std::ostream& out) const;
  [[nodiscard]] std::string to_string() const;

 private:
  std::deque<entry> remarks_;
  std::size_t errors_ = 0;
  bool is_cut_off_ = false;
  std::bitset<static_cast<std::size_t>(warning_kind::count)> left_out_{
      1ULL << static_cast<unsigned>(warning_kind::portable)};
};

/// Returns a message as printed, with a final newline.
[[nodiscard]] std::string to_string(const diagnostics::entry& remark);

}  // namespace gpulog
