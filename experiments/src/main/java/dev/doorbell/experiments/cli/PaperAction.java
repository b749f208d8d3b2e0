package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What {@code doorbell paper} can do. */
enum PaperAction {
  NEW,
  BUILD,
  VERIFY,
  PACK;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  Command create() {
    return switch (this) {
      case NEW -> new PaperNewCommand();
      case BUILD -> new PaperBuildCommand();
      case VERIFY -> new PaperVerifyCommand();
      case PACK -> new PaperPackCommand();
    };
  }

  static Optional<PaperAction> of(String word) {
    return Arrays.stream(values()).filter(action -> action.word().equals(word)).findFirst();
  }

  static String suggestion(String word) {
    List<String> words = Arrays.stream(values()).map(PaperAction::word).toList();
    return Nearest.suggestion(word, words);
  }
}
