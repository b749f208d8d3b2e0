package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.calibrate.CalibrateCommand;
import dev.doorbell.experiments.cli.collective.CollCommand;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.decode.DecodeCommand;
import dev.doorbell.experiments.cli.exec.ExecCommand;
import dev.doorbell.experiments.cli.explain.ExplainCommand;
import dev.doorbell.experiments.cli.explore.ExploreCommand;
import dev.doorbell.experiments.cli.kernel.KernelCommand;
import dev.doorbell.experiments.cli.paper.PaperCommand;
import dev.doorbell.experiments.cli.plan.DescribeCommand;
import dev.doorbell.experiments.cli.plan.ListCommand;
import dev.doorbell.experiments.cli.plan.PredictCommand;
import dev.doorbell.experiments.cli.plan.ShowCommand;
import dev.doorbell.experiments.cli.plan.ValidateCommand;
import dev.doorbell.experiments.cli.results.CompareCommand;
import dev.doorbell.experiments.cli.results.PlotCommand;
import dev.doorbell.experiments.cli.results.TableCommand;
import dev.doorbell.experiments.cli.results.VerifyCommand;
import dev.doorbell.experiments.cli.run.RunCommand;
import dev.doorbell.experiments.cli.topo.TopoCommand;
import dev.doorbell.experiments.cli.validation.ValidateModelCommand;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The commands, in the order of the help text. Only the one that is used is loaded. */
enum Subcommand {
  DEMO("demo", "post one put and watch it: WQE, record, doorbell, fetch, payload, CQE"),
  RUN("run", "run an experiment: samples, table, figures"),
  COLL("coll", "a collective among many ranks, with nccl-tests' flags and table"),
  LIST("list", "experiments, kernels, paths, topologies, metrics, axes"),
  DESCRIBE("describe", "explain anything that list names"),
  VALIDATE("validate", "check experiment files, all problems at once"),
  SHOW("show", "an experiment with nothing left open, its points and time"),
  PREDICT("predict", "the closed forms for each point, without running it"),
  VALIDATE_MODEL("validate-model", "published measurements beside the model, with its error"),
  CALIBRATE("calibrate", "measure what a GPU's accesses cost; makes a topology of it"),
  TOPO("topo", "machines as NCCL, nvidia-smi and lstopo describe them: import"),
  EXPLORE("explore", "look for the missing fence: a kernel against an adversary"),
  PLOT("plot", "figures of a run: lines, bars, distributions, heat maps, timelines"),
  TABLE("table", "print a run's table again from its samples, in many formats"),
  PAPER("paper", "papers whose figures and numbers come from runs: new, build, verify"),
  COMPARE("compare", "what changed from one run to another, with a verdict a point"),
  VERIFY("verify", "whether the files of a run are what they were when it ended"),
  KERNEL("kernel", "kernels of your own: new, check, build"),
  EXEC("exec", "run a program of CUDA and RDMA, unmodified, with neither GPU nor NIC"),
  DECODE("decode", "explain WQEs, CQEs, doorbells and packets bit by bit; check a capture"),
  EXPLAIN("explain", "what lies in pasted text: logs, dumps, captures, tables, topologies"),
  DOCTOR("doctor", "what of this machine stands in the way of GPUDirect RDMA; what a log means"),
  COMPLETION("completion", "completion of commands and options for bash and zsh");

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

  CliCommand create() {
    return switch (this) {
      case DEMO -> new DemoCommand();
      case RUN -> new RunCommand();
      case COLL -> new CollCommand();
      case LIST -> new ListCommand();
      case DESCRIBE -> new DescribeCommand();
      case VALIDATE -> new ValidateCommand();
      case SHOW -> new ShowCommand();
      case PREDICT -> new PredictCommand();
      case VALIDATE_MODEL -> new ValidateModelCommand();
      case CALIBRATE -> new CalibrateCommand();
      case TOPO -> new TopoCommand();
      case EXPLORE -> new ExploreCommand();
      case PLOT -> new PlotCommand();
      case TABLE -> new TableCommand();
      case PAPER -> new PaperCommand();
      case COMPARE -> new CompareCommand();
      case VERIFY -> new VerifyCommand();
      case KERNEL -> new KernelCommand();
      case EXEC -> new ExecCommand();
      case DECODE -> new DecodeCommand();
      case EXPLAIN -> new ExplainCommand();
      case DOCTOR -> new DoctorCommand();
      case COMPLETION -> new CompletionCommand();
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
