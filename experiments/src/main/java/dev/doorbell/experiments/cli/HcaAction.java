package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What {@code doorbell hca} can do. */
enum HcaAction {
  SERVE,
  STATS,
  FAULTS,
  PCAP,
  BENCH,
  ALLTOALL,
  EXEC;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  Command create() {
    return switch (this) {
      case SERVE -> new HcaServeCommand();
      case STATS -> new HcaStatsCommand();
      case FAULTS -> new HcaFaultsCommand();
      case PCAP -> new HcaPcapCommand();
      case BENCH -> new HcaBenchCommand();
      case ALLTOALL -> new HcaAllToAllCommand();
      case EXEC -> new HcaExecCommand();
    };
  }

  static Optional<HcaAction> of(String word) {
    return Arrays.stream(values()).filter(action -> action.word().equals(word)).findFirst();
  }

  static String suggestion(String word) {
    List<String> words = Arrays.stream(values()).map(HcaAction::word).toList();
    return Nearest.suggestion(word, words);
  }
}
