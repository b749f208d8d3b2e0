package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What {@code doorbell claims} can do. */
enum ClaimsAction {
  LIST,
  CHECK;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  Command create() {
    return switch (this) {
      case LIST -> new ClaimsListCommand();
      case CHECK -> new ClaimsCheckCommand();
    };
  }

  static Optional<ClaimsAction> of(String word) {
    return Arrays.stream(values()).filter(action -> action.word().equals(word)).findFirst();
  }

  static String suggestion(String word) {
    List<String> words = Arrays.stream(values()).map(ClaimsAction::word).toList();
    return Nearest.suggestion(word, words);
  }
}
