package dev.doorbell.experiments.results.paper;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Contents of a {@code paper.yaml}.
 *
 * @param name of the paper; its folder is called so
 * @param texts files with placeholders, relative to the folder
 * @param claims a ledger, relative to the folder; empty for none
 * @param runs by their names
 */
public record Paper(
    String name,
    String title,
    List<String> texts,
    String claims,
    SequencedMap<String, Run> runs,
    SequencedMap<String, Figure> figures,
    SequencedMap<String, Table> tables,
    SequencedMap<String, Quantity> numbers) {

  public static final String FILE = "paper.yaml";

  /**
   * A run that the paper rests on.
   *
   * @param experiment a name, or a file relative to the folder; empty where it calibrates
   * @param set settings as {@code -s} takes them
   * @param only a part of the plan, as {@code --only} takes it; empty for all
   * @param calibrate a topology relative to the folder, to be measured in virtual time; empty where
   *     it is an experiment
   * @param stored a run that is kept with its samples, such as one that was measured, relative to
   *     the folder; empty where it is made
   */
  public record Run(
      String experiment, List<String> set, String only, String calibrate, String stored) {
    public Run {
      set = List.copyOf(set);
    }
  }

  /** A figure of a run; what its description leaves open is the config's. */
  public record Figure(String run, FigureSpec shown, String caption) {}

  /**
   * A table.
   *
   * @param show summary, crossovers, counters, prices, residuals, published or numbers
   * @param metrics of a summary; empty for all
   * @param measured for prices: a file that calibrate wrote, relative to the folder; for residuals:
   *     the run that the other is held against; for published: the rows.csv of validate-model
   * @param names of the quantities, rows or numbers in it; empty for all
   */
  public record Table(
      String run,
      String show,
      String only,
      List<String> metrics,
      String measured,
      List<String> names,
      String caption) {
    public Table {
      metrics = List.copyOf(metrics);
      names = List.copyOf(names);
    }
  }

  /**
   * A number in the text.
   *
   * @param value an expression: arithmetic, closed forms, selections from the run or file
   * @param run that it selects from; empty for none
   * @param file that calibrate wrote, whose medians it names; empty for none
   * @param basis exact, modelled, measured or cited
   */
  public record Quantity(
      String value,
      String run,
      String file,
      String unit,
      int digits,
      String basis,
      String source) {}

  public Paper {
    texts = List.copyOf(texts);
    runs = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(runs));
    figures = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(figures));
    tables = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tables));
    numbers = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(numbers));
  }

  /** Reads the paper in a folder, with every problem at once. */
  public static Paper read(Path folder) throws ConfigException {
    Path file = folder.resolve(FILE);
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException _) {
      throw new ConfigException(
          List.of(
              Problem.of("DB-C070", file.toString(), "there is no paper here")
                  .fix("doorbell paper new DIR makes one")));
    }
    return parse(file.toString(), text);
  }

  /** Reads the text of a paper, with every problem at once. */
  public static Paper parse(String file, String text) throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    return new Reader(FigureReader.in(file, text, "paper", problems), problems).read();
  }

  private static final class Reader {
    private static final Set<String> SHOWN =
        Set.of("summary", "crossovers", "counters", "prices", "residuals", "published", "numbers");
    private static final Set<String> BASES = Set.of("exact", "modelled", "measured", "cited");

    private final FigureReader document;
    private final List<Problem> problems;

    Reader(FigureReader document, List<Problem> problems) {
      this.document = document;
      this.problems = problems;
    }

    Paper read() throws ConfigException {
      JsonNode root = document.root();
      keys(
          "the paper",
          root,
          Set.of("paper", "title", "text", "claims", "runs", "figures", "tables", "numbers"));
      SequencedMap<String, Run> runs = new LinkedHashMap<>();
      SequencedMap<String, Figure> figures = new LinkedHashMap<>();
      SequencedMap<String, Table> tables = new LinkedHashMap<>();
      SequencedMap<String, Quantity> numbers = new LinkedHashMap<>();
      root.path("runs").properties().forEach(e -> runs.put(e.getKey(), run(e)));
      root.path("figures").properties().forEach(e -> figures.put(e.getKey(), figure(e, runs)));
      root.path("tables").properties().forEach(e -> tables.put(e.getKey(), table(e, runs)));
      root.path("numbers").properties().forEach(e -> numbers.put(e.getKey(), number(e, runs)));
      List<String> texts = strings(root.path("text"));
      String name = text(root, "paper");
      if (name.isEmpty() || texts.isEmpty()) {
        problem("it needs 'paper', its name, and 'text', a list of files");
      }
      if (!problems.isEmpty()) {
        throw new ConfigException(problems);
      }
      return new Paper(
          name, text(root, "title"), texts, text(root, "claims"), runs, figures, tables, numbers);
    }

    private Run run(Map.Entry<String, JsonNode> entry) {
      JsonNode node = entry.getValue();
      String what = "run '" + entry.getKey() + "'";
      keys(what, node, Set.of("experiment", "set", "only", "calibrate", "stored"));
      List<String> ways = List.of("experiment", "calibrate", "stored");
      if (ways.stream().filter(way -> !text(node, way).isEmpty()).count() != 1) {
        problem(what + " needs one of 'experiment', 'calibrate' and 'stored'");
      }
      if (!entry.getKey().matches("[a-z][a-z0-9-]*")) {
        problem(what + ": a name of a run is lower-case letters, digits and hyphens");
      }
      return new Run(
          text(node, "experiment"),
          strings(node.path("set")),
          text(node, "only"),
          text(node, "calibrate"),
          text(node, "stored"));
    }

    private Figure figure(Map.Entry<String, JsonNode> entry, Map<String, Run> runs) {
      JsonNode node = entry.getValue();
      known("figure '" + entry.getKey() + "'", text(node, "run"), runs.keySet(), "run");
      FigureSpec shown = document.figure("/figures/" + entry.getKey(), Set.of("run", "caption"));
      return new Figure(
          text(node, "run"),
          (shown == null ? FigureSpec.of(FigureKind.LINE) : shown).named(entry.getKey()),
          text(node, "caption"));
    }

    private Table table(Map.Entry<String, JsonNode> entry, Map<String, Run> runs) {
      JsonNode node = entry.getValue();
      String what = "table '" + entry.getKey() + "'";
      keys(what, node, Set.of("run", "show", "only", "metrics", "measured", "names", "caption"));
      String show = node.path("show").asString("summary");
      if (!SHOWN.contains(show)) {
        problem("%s cannot show '%s'%s".formatted(what, show, Nearest.suggestion(show, SHOWN)));
      }
      if (!show.equals("numbers") && !show.equals("published")) {
        known(what, text(node, "run"), runs.keySet(), "run");
      }
      if (show.equals("residuals")) {
        known(what, text(node, "measured"), runs.keySet(), "run");
      }
      return new Table(
          text(node, "run"),
          show,
          text(node, "only"),
          strings(node.path("metrics")),
          text(node, "measured"),
          strings(node.path("names")),
          text(node, "caption"));
    }

    private Quantity number(Map.Entry<String, JsonNode> entry, Map<String, Run> runs) {
      JsonNode node = entry.getValue();
      String what = "number '" + entry.getKey() + "'";
      keys(what, node, Set.of("value", "run", "file", "unit", "digits", "basis", "source"));
      String run = text(node, "run");
      if (!run.isEmpty()) {
        known(what, run, runs.keySet(), "run");
      }
      String basis = node.path("basis").asString(run.isEmpty() ? "" : "modelled");
      if (!BASES.contains(basis)) {
        problem(what + " needs a basis: exact, modelled, measured or cited");
      }
      if (!basis.equals("modelled") && !basis.equals("exact") && text(node, "source").isEmpty()) {
        problem(what + " is " + basis + " and says not where: it needs a source");
      }
      if (!node.has("value")) {
        problem(what + " has no value");
      }
      return new Quantity(
          node.path("value").asString(""),
          run,
          text(node, "file"),
          text(node, "unit"),
          node.path("digits").asInt(3),
          basis,
          text(node, "source"));
    }

    private void known(String what, String name, Collection<String> names, String kind) {
      if (!names.contains(name)) {
        problem("%s: no %s '%s'%s".formatted(what, kind, name, Nearest.suggestion(name, names)));
      }
    }

    private void keys(String what, JsonNode node, Set<String> known) {
      for (String key : node.propertyNames()) {
        if (!known.contains(key)) {
          problem(
              "%s has an unknown key '%s'%s".formatted(what, key, Nearest.suggestion(key, known)));
        }
      }
    }

    private void problem(String what) {
      problems.add(Problem.of("DB-C071", document.placeOf(""), what));
    }

    private static String text(JsonNode node, String key) {
      return node.path(key).asString("");
    }

    private List<String> strings(JsonNode node) {
      List<String> strings = new ArrayList<>();
      for (JsonNode each : node) {
        if (each.isContainer()) {
          problem("a list of words has an element that is none");
        }
        strings.add(each.asString(""));
      }
      return strings;
    }
  }
}
