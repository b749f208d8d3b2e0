package dev.doorbell.experiments.results.paper;

import static dev.doorbell.experiments.config.document.SourcePositions.child;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.schema.Binding;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import dev.doorbell.experiments.config.schema.SchemaChecker.Suggestions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Contents of a {@code paper.yaml}.
 *
 * @param name of the paper; its folder is called so
 * @param texts files with placeholders, relative to the folder
 * @param runs by their names
 */
public record Paper(
    String name,
    List<String> texts,
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
      String experiment, List<String> set, String only, String calibrate, String stored) {}

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
      show = show.isEmpty() ? "summary" : show;
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
      String value, String run, String file, String unit, int digits, String basis, String source) {
    public Quantity {
      digits = digits == 0 ? 3 : digits;
      basis = basis.isEmpty() ? "modelled" : basis;
    }
  }

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
          Problem.of("DB-C070", file.toString(), "there is no paper here")
              .fix("doorbell paper new DIR makes one"));
    }
    return parse(file.toString(), text);
  }

  /** Reads the text of a paper, with every problem at once. */
  public static Paper parse(String file, String text) throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, "paper");
    SchemaChecker checker = new SchemaChecker(Schema.load("paper"));
    List<Problem> problems = new ArrayList<>(checker.check(document.root(), document.positions()));
    ConfigException.throwIfAny(problems);
    return new Reader(document, problems).read();
  }

  /** Binds a document that the schema has found valid, and checks what its parts say of another. */
  private record Reader(YamlDocument.Parsed document, List<Problem> problems) {
    Paper read() throws ConfigException {
      JsonNode root = document.root();
      SequencedMap<String, Run> runs = Binding.map(Run.class, root.path("runs"));
      SequencedMap<String, Table> tables = Binding.map(Table.class, root.path("tables"));
      SequencedMap<String, Quantity> numbers = Binding.map(Quantity.class, root.path("numbers"));
      SequencedMap<String, Figure> figures = new LinkedHashMap<>();
      runs.forEach(this::check);
      FigureReader reader = new FigureReader(root, document.positions(), problems);
      for (String name : root.path("figures").propertyNames()) {
        JsonNode node = root.get("figures").get(name);
        FigureSpec shown = reader.figure(child("/figures", name), Set.of("run", "caption"));
        FigureSpec named = (shown == null ? FigureSpec.of(FigureKind.LINE) : shown).named(name);
        String run = node.get("run").asString();
        known(child("/figures", name) + "/run", run, runs);
        figures.put(name, new Figure(run, named, node.path("caption").asString("")));
      }
      tables.forEach(
          (name, table) -> {
            if (!table.show.equals("numbers") && !table.show.equals("published")) {
              known(child("/tables", name) + "/run", table.run, runs);
            }
            if (table.show.equals("residuals")) {
              known(child("/tables", name) + "/measured", table.measured, runs);
            }
          });
      numbers.forEach(
          (name, number) -> {
            if (!number.run.isEmpty()) {
              known(child("/numbers", name) + "/run", number.run, runs);
            }
          });
      ConfigException.throwIfAny(problems);
      return new Paper(
          root.get("paper").asString(),
          Schema.strings(root.get("text")),
          runs,
          figures,
          tables,
          numbers);
    }

    private void check(String name, Run run) {
      if (Stream.of(run.experiment, run.calibrate, run.stored).filter(String::isEmpty).count()
          != 2) {
        problem(name, "run '%s' needs one of 'experiment', 'calibrate' and 'stored'");
      }
      if (!name.matches("[a-z][a-z0-9-]*")) {
        problem(name, "run '%s': a name of a run is lower-case letters, digits and hyphens");
      }
    }

    private void problem(String run, String what) {
      String where = document.positions().ofKey(child("/runs", run));
      problems.add(Problem.of("DB-C071", where, what.formatted(run)));
    }

    private void known(String pointer, String name, SequencedMap<String, Run> runs) {
      if (!runs.containsKey(name)) {
        problems.add(
            Suggestions.unknown(
                document.positions().ofValue(pointer), "run", name, List.copyOf(runs.keySet())));
      }
    }
  }
}
