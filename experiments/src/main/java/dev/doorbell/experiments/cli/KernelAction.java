package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What {@code doorbell kernel} can do. */
enum KernelAction {
  NEW,
  CHECK,
  RUN,
  BUILD,
  DISASM,
  DIFF_RUN;

  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  Command create() {
    return switch (this) {
      case NEW -> new KernelNewCommand();
      case CHECK -> new KernelCheckCommand();
      case RUN -> new KernelRunCommand();
      case BUILD -> new KernelBuildCommand();
      case DISASM -> new KernelDisasmCommand();
      case DIFF_RUN -> new KernelDiffRunCommand();
    };
  }

  static Optional<KernelAction> of(String word) {
    return Arrays.stream(values()).filter(action -> action.word().equals(word)).findFirst();
  }

  static String suggestion(String word) {
    List<String> words = Arrays.stream(values()).map(KernelAction::word).toList();
    return Nearest.suggestion(word, words);
  }
}
