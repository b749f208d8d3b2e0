package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The commands, in the order of the help text. Only the one that is used is loaded. */
enum Subcommand {
  DEMO("demo", "post one put and watch it: WQE, record, doorbell, fetch, payload, CQE"),
  RUN("run", "run an experiment: samples, table, figures"),
  LIST("list", "experiments, kernels, paths, topologies, metrics, axes"),
  DESCRIBE("describe", "explain anything that list names"),
  VALIDATE("validate", "check experiment files, all problems at once"),
  SHOW("show", "an experiment with nothing left open, its points and time"),
  PREDICT("predict", "the closed forms for each point, without running it"),
  EXPLORE("explore", "look for the missing fence: a kernel against an adversary"),
  PLOT("plot", "draw a run's figures again from its samples"),
  TABLE("table", "print a run's table again from its samples"),
  KERNEL("kernel", "kernels of your own: new, check, run, build, disasm"),
  HCA("hca", "HCAs of more than one process: serve, stats, faults, pcap, bench, alltoall, exec"),
  DECODE("decode", "explain WQEs, CQEs, doorbells and packets bit by bit; check a capture");

  private final String word;
  private final String summary;

  Subcommand(String word, String summary) {
    this.word = word;
    this.summary = summary;
  }

  String word() {
    return word;
  }

  String summary() {
    return summary;
  }

  Command create() {
    return switch (this) {
      case DEMO -> new DemoCommand();
      case RUN -> new RunCommand();
      case LIST -> new ListCommand();
      case DESCRIBE -> new DescribeCommand();
      case VALIDATE -> new ValidateCommand();
      case SHOW -> new ShowCommand();
      case PREDICT -> new PredictCommand();
      case EXPLORE -> new ExploreCommand();
      case PLOT -> new PlotCommand();
      case TABLE -> new TableCommand();
      case KERNEL -> new KernelCommand();
      case HCA -> new HcaCommand();
      case DECODE -> new DecodeCommand();
    };
  }

  static Optional<Subcommand> of(String word) {
    return Arrays.stream(values()).filter(command -> command.word.equals(word)).findFirst();
  }

  static String suggestion(String word) {
    List<String> words = Arrays.stream(values()).map(Subcommand::word).toList();
    return Nearest.suggestion(word, words);
  }
}
