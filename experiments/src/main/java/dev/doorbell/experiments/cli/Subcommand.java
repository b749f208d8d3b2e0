package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The commands, in the order of the help text. Only the one that is used is loaded. */
enum Subcommand {
  DEMO(
      "demo",
      "post one put and watch it: WQE, record, doorbell, fetch, payload, CQE",
      DemoCommand::new),
  RUN("run", "run an experiment: samples, table, figures", RunCommand::new),
  LIST("list", "experiments, kernels, paths, topologies, metrics, axes", ListCommand::new),
  DESCRIBE("describe", "explain anything that list names", DescribeCommand::new),
  VALIDATE("validate", "check experiment files, all problems at once", ValidateCommand::new),
  SHOW("show", "an experiment with nothing left open, its points and time", ShowCommand::new),
  PREDICT("predict", "the closed forms for each point, without running it", PredictCommand::new),
  PLOT("plot", "draw a run's figures again from its samples", PlotCommand::new),
  TABLE("table", "print a run's table again from its samples", TableCommand::new);

  private final String word;
  private final String summary;
  private final Supplier<Command> factory;

  Subcommand(String word, String summary, Supplier<Command> factory) {
    this.word = word;
    this.summary = summary;
    this.factory = factory;
  }

  String word() {
    return word;
  }

  String summary() {
    return summary;
  }

  Command create() {
    return factory.get();
  }

  static Optional<Subcommand> of(String word) {
    return Arrays.stream(values()).filter(command -> command.word.equals(word)).findFirst();
  }

  static String suggestion(String word) {
    List<String> words = Arrays.stream(values()).map(Subcommand::word).toList();
    return Nearest.suggestion(word, words);
  }
}
