package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.Resources;
import dev.doorbell.core.mlx5.generated.StatusTable;
import dev.doorbell.core.mlx5.generated.SyndromeTable;
import dev.doorbell.core.mlx5.generated.VendorTable;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.catalogue.Knob;
import dev.doorbell.doctor.log.CompletionError;
import dev.doorbell.doctor.log.LogDiagnosis;
import dev.doorbell.doctor.log.LogPattern;
import dev.doorbell.doctor.report.TextReport;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.schema.Amounts;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Schema.Setting;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Catalogue;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.validation.MachineStanding;
import dev.doorbell.experiments.workbench.validation.ModelMachine;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Everything that has a name, with what there is to say about it. */
public final class Glossary {
  /** Arguments of {@code list}, which prints all but the codes where it has none. */
  public static final List<String> KINDS =
      List.of("experiments", "kernels", "paths", "topologies", "metrics", "axes", "codes");

  static final String CODES = "codes";

  static final String TOPOLOGY = "topology";

  private static final String PLACEMENT = "placement";

  private final CommandContext context;
  private final Schema schema = Schema.experiment();

  /** Read when they are asked for, as {@link #standings} is. */
  private final List<Entry> topologies = new ArrayList<>();

  /** Evidence behind the constants of each topology that is a machine. */
  private final Map<String, String> standings = new HashMap<>();

  Glossary(CommandContext context) {
    this.context = context;
  }

  /** A thing with a name; its summary and text are read on demand. */
  record Entry(String kind, String name, Supplier<String> about, Supplier<String> rest) {
    Entry(String kind, String name, String summary, String text) {
      this(kind, name, () -> summary, () -> text);
    }

    String summary() {
      return about.get();
    }

    String text() {
      return rest.get();
    }

    SequencedMap<String, String> tree() {
      SequencedMap<String, String> tree = new LinkedHashMap<>();
      tree.put("kind", kind);
      tree.put("name", name);
      tree.put("summary", summary());
      tree.put("text", text());
      return tree;
    }
  }

  List<Entry> entries(String kind) {
    return switch (kind) {
      case "experiments" -> ExperimentFiles.names().stream().map(this::experiment).toList();
      case "kernels" -> catalogue("kernel", context.runtime().get().catalogue().kernels());
      case "topologies" -> topologies();
      case "paths" -> words("path", "path");
      case "metrics" -> metrics();
      case "axes" -> schema.settings().values().stream().map(this::axis).toList();
      case CODES -> codes();
      default -> throw new IllegalArgumentException("no kind of thing: " + kind);
    };
  }

  List<Entry> all() {
    List<Entry> all = new ArrayList<>();
    KINDS.forEach(kind -> all.addAll(entries(kind)));
    all.addAll(errors());
    return all;
  }

  /** Errors and variables of other software, which are described and not listed. */
  private static List<Entry> errors() {
    List<Entry> entries = new ArrayList<>();
    for (LogPattern pattern : LogPattern.all()) {
      entries.add(
          new Entry("log line", pattern.code(), pattern.meaning(), LogDiagnosis.explain(pattern)));
    }
    for (int code = 0; code <= 0xff; code++) {
      int status = code;
      if (status < StatusTable.NUMBER) {
        entries.add(new Entry("status", StatusTable.name(status), statusText(status), ""));
      }
      String syndrome = SyndromeTable.name(code);
      if (!syndrome.startsWith("unknown")) {
        int of = CompletionError.byName(SyndromeTable.status(code));
        entries.add(
            new Entry(
                "syndrome",
                "0x%02x".formatted(code),
                "mlx5: %s, %s".formatted(syndrome, statusText(of)),
                ""));
      }
      if (!VendorTable.status(code).isEmpty()) {
        int of = CompletionError.byName(VendorTable.status(code));
        entries.add(
            new Entry(
                "vendor error",
                "0x%02x".formatted(code),
                "%s%d: %s; goes with %s"
                    .formatted(
                        VendorTable.meaning(code).startsWith("Doorbell") ? "" : "ConnectX, ",
                        code,
                        VendorTable.meaning(code),
                        statusText(of)),
                "seen in  " + VendorTable.sources(code)));
      }
    }
    for (Knob knob : Knob.all()) {
      entries.add(new Entry("variable", knob.name(), knob.meaning(), "advice   " + knob.advice()));
    }
    return entries;
  }

  private static String statusText(int status) {
    return "%s (%d), %s%nmeans    %s%nfix      %s%nsources  %s"
        .formatted(
            StatusTable.name(status),
            status,
            StatusTable.description(status),
            StatusTable.cause(status),
            StatusTable.fix(status),
            StatusTable.sources(status));
  }

  /** Topologies, each with what it rests on before its text. */
  private List<Entry> topologies() {
    if (topologies.isEmpty()) {
      for (Catalogue.Entry entry : context.runtime().get().catalogue().topologies()) {
        topologies.add(
            new Entry(
                TOPOLOGY,
                entry.name(),
                entry::summary,
                () -> standing(entry.name()) + entry.text()));
      }
    }
    return topologies;
  }

  /** Returns the evidence behind a topology's constants; empty for one that is no machine. */
  private String standing(String topology) {
    if (standings.isEmpty()) {
      ValidationResults stored = StoredResults.builtIn();
      ModelMachine.builtIn()
          .forEach(each -> standings.put(each.topology(), MachineStanding.text(each, stored)));
    }
    return standings.getOrDefault(topology, "");
  }

  private static List<Entry> catalogue(String kind, List<Catalogue.Entry> entries) {
    return entries.stream().map(e -> new Entry(kind, e.name(), e.summary(), e.text())).toList();
  }

  private List<Entry> words(String kind, String settingName) {
    Setting setting = schema.settings().get(settingName);
    if (setting == null) {
      throw new IllegalStateException("the schema lacks the setting " + settingName);
    }
    return setting.words().entrySet().stream()
        .map(entry -> new Entry(kind, entry.getKey(), entry.getValue(), ""))
        .toList();
  }

  private static List<Entry> codes() {
    Stream<Entry> problems =
        ProblemCodes.all().stream()
            .map(each -> new Entry("code", each.code(), each.meaning(), "fix      " + each.fix()));
    Stream<Entry> doctor =
        Code.all().stream()
            .map(each -> new Entry("code", each.id(), each.title(), TextReport.explain(each)));
    return Stream.concat(problems, doctor).toList();
  }

  private List<Entry> metrics() {
    return schema.metrics().entrySet().stream()
        .map(entry -> new Entry("metric", entry.getKey(), entry.getValue(), ""))
        .toList();
  }

  private Entry axis(Setting setting) {
    return new Entry(
        "axis",
        setting.name(),
        setting.description(),
        "values   %s%ndefault  %s%n".formatted(legal(setting), setting.standard().text()));
  }

  private String legal(Setting setting) {
    if (!setting.words().isEmpty()) {
      StringJoiner words = new StringJoiner("\n         ");
      int width = setting.words().keySet().stream().mapToInt(String::length).max().orElse(0);
      setting
          .words()
          .forEach(
              (word, meaning) ->
                  words.add(
                      "%s%s"
                          .formatted(
                              word,
                              meaning.isEmpty()
                                  ? ""
                                  : " ".repeat(width - word.length() + 2) + meaning)));
      return words.toString();
    }
    if (!setting.numbers().isEmpty()) {
      StringJoiner numbers = new StringJoiner(" ");
      setting.numbers().forEach(number -> numbers.add(Long.toString(number)));
      return numbers.toString();
    }
    return switch (setting.kind()) {
      case FLAG -> "true, false";
      case NUMBER ->
          "%d to %d%s%s"
              .formatted(
                  setting.min(),
                  setting.max(),
                  setting.unit().isEmpty() ? "" : " " + setting.unit(),
                  setting.powerOfTwo() ? ", a power of two" : "");
      case WORD -> "doorbell list topologies, or a topology file";
    };
  }

  private Entry experiment(String name) {
    return new Entry(
        "experiment",
        name,
        () -> read(name, ExperimentConfig::question, _ -> "cannot be read"),
        () -> read(name, this::essay, Problem::text));
  }

  private String read(
      String name, Function<ExperimentConfig, String> sound, Function<Problem, String> wrong) {
    try {
      return sound.apply(ExperimentFiles.read(context, name, List.of()));
    } catch (ProblemException e) {
      return wrong.apply(e.problem());
    }
  }

  /** Question, variables, metrics, run time, expected outcome. */
  private String essay(ExperimentConfig config) {
    Plan plan = Plan.of(config);
    long nanos = plan.points().stream().mapToLong(context.runtime().get()::estimateNanos).sum();
    StringBuilder text = new StringBuilder();
    config
        .axes()
        .forEach(
            axis -> {
              StringJoiner values = new StringJoiner(", ");
              axis.values().forEach(value -> values.add(amount(axis.name(), value)));
              text.append("axis     %s: %s%n".formatted(axis.name(), values));
            });
    StringJoiner fixed = new StringJoiner(", ");
    config
        .fixed()
        .forEach(
            (name, value) -> {
              Setting setting = schema.settings().get(name);
              if (setting == null || !value.equals(setting.standard())) {
                fixed.add(name + " " + amount(name, value));
              }
            });
    text.append(
        "fixed    %s by default (doorbell show %s)%n"
            .formatted(fixed.length() == 0 ? "all" : fixed + "; all else", config.name()));
    plan.points().stream()
        .map(point -> point.text(PLACEMENT))
        .distinct()
        .forEach(placement -> text.append(machine(placement, config)));
    config
        .measure()
        .metrics()
        .forEach(
            metric ->
                text.append("metric   %s: %s%n".formatted(metric, schema.metrics().get(metric))));
    text.append("kernel   %s%n".formatted(String.join(", ", config.kernels())));
    text.append(
        "points   %d, %d excluded, about %s on one core%n"
            .formatted(
                plan.points().size(),
                plan.excluded(),
                Screen.minutes(nanos * Math.max(1, config.measure().repeat()))));
    if (!config.expectation().isEmpty()) {
      text.append("expect   %s%n".formatted(config.expectation().strip()));
    }
    for (Expectation expectation : config.expectations()) {
      Expectation.Scope scope = expectation.scope();
      text.append("checked  %s%n".formatted(expectation.text()))
          .append("  source %s%n".formatted(scope.source().strip()))
          .append(scope.known().isEmpty() ? "" : "  known  %s%n".formatted(scope.known().strip()));
    }
    return text.toString();
  }

  /** The machine that points are modelled on, and what its constants rest on. */
  private String machine(String placement, ExperimentConfig config) {
    Setting setting = schema.settings().get(PLACEMENT);
    boolean standard =
        setting != null
            && setting.standard().text().equals(placement)
            && config.axes().stream().noneMatch(axis -> axis.name().equals(PLACEMENT));
    StringBuilder text =
        new StringBuilder("machine  " + placement + (standard ? ", the default" : ""));
    topologies().stream()
        .filter(entry -> entry.name().equals(placement))
        .findFirst()
        .ifPresent(
            entry -> {
              text.append(": ").append(entry.summary());
              entry
                  .text()
                  .lines()
                  .takeWhile(line -> line.startsWith("# ") && !line.equals("# " + entry.summary()))
                  .limit(2)
                  .forEach(line -> text.append("; ").append(line.substring(2)));
            });
    return text.append('\n').toString();
  }

  private static String amount(String name, Value value) {
    return value instanceof Value.Whole(long number)
        ? Amounts.setting(name, (double) number)
        : value.text();
  }

  /** Meanings of problem codes, apart from the case in which one was met. */
  public static final class ProblemCodes {
    private ProblemCodes() {}

    /**
     * One code.
     *
     * @param code such as {@code DB-C010}
     */
    public record ProblemCode(String code, String meaning, String fix) {}

    /** Returns all codes, by area and number. */
    public static List<ProblemCode> all() {
      return Resources.text(ProblemCodes.class, "codes.txt")
          .lines()
          .filter(line -> line.startsWith("DB-"))
          .map(line -> line.split(" \\| ", 3))
          .map(parts -> new ProblemCode(parts[0], parts[1], parts[2]))
          .toList();
    }
  }
}
