package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.schema.Schema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Options of a figure: each is a key of a figure in a config, too. */
@CommandLine.Command
final class FigureOptions {
  /** A row names the part of a figure, the type of the value, its key, label and description. */
  private static final String TABLE =
      """
      shown kind   kind KIND line, cdf, bar, heatmap, timeline or tornado (default: line; \
      without options that say what is shown, all that the config asks for).
      which text   name NAME Name of the files (default: made of what is shown).
      shown text   x AXIS What lies on the abscissa; what bars stand side by side for.
      shown text   y METRIC What is shown, such as latency; of lines and bars a counter, too.
      shown text   per METRIC Metric or counter that -y is divided by.
      shown text   statistic STATISTIC median, mean, min, max or a percentile such as p99 \
      (default: median).
      shown text   relative SERIES Show all series as multiples of this one.
      shown text   series AXIS One line, bar or colour for each of its values.
      shown text   facet AXIS One panel for each of its values.
      shown text   rows AXIS The ordinate of a heat map.
      which text   only CONDITIONS A part of the run, such as 'size<=4K,path=pull|push.bf'.
      shown flag   logx true|false Whether the abscissa of lines is logarithmic.
      shown flag   logy true|false Whether the ordinate of lines is.
      shown number share PERCENT How far a tornado moves a constant without an interval \
      (default: 20).
      looks list   names WORD=TEXT Text in place of an axis, a metric or a value: --names \
      pull='NIC pull', or --names cq=gpu='GPU memory' for a value of one axis. May be given \
      several times.
      looks split  order SERIES Series that come first, in this order.
      looks text   title TEXT Title above the figure.
      looks text   caption TEXT What it shows, in the files' own titles.
      looks text   width WIDTH column (84 mm), page (178 mm), or such as 85mm.
      looks number fontsize POINTS Size of the text; lines and markers grow with it (default: 7).
      looks text   xrange A..B Ends of the abscissa: 64..64K.
      looks text   yrange A..B Ends of the ordinate: 0..40.
      looks text   xunit UNIT Unit of the abscissa: KiB.
      looks text   yunit UNIT Unit of the ordinate: us, Gb/s.
      looks text   legend PLACE top, bottom, right, none, or a corner such as top-left.
      looks flag   footer true|false Whether basis, samples and run are printed below.
      looks text   palette PALETTE okabe-ito, bright, grey, or colours: '#0072B2,#D55E00'.
      looks list   annotate NOTE 'y=25: line rate', 'x=4K: MTU' or 'x=4K,y=3: here'. May be \
      given several times.
      """;

  private final SequencedMap<String, SequencedMap<String, OptionSpec>> parts =
      new LinkedHashMap<>();

  /** Called by picocli with the command that has these options. */
  @Spec(Spec.Target.MIXEE)
  void addTo(CommandSpec command) {
    for (String row : TABLE.lines().toList()) {
      String[] cells = row.split(" +", 5);
      OptionSpec option =
          ofType(OptionSpec.builder(option(cells[2])), cells[1])
              .paramLabel(cells[3])
              .description(cells[4])
              .build();
      parts.computeIfAbsent(cells[0], _ -> new LinkedHashMap<>()).put(cells[2], option);
      command.addOption(option);
    }
  }

  private static OptionSpec.Builder ofType(OptionSpec.Builder option, String type) {
    return switch (type) {
      case "kind" -> option.type(FigureKind.class).converters(new Kinds());
      case "flag" -> option.type(Boolean.class).arity("1");
      case "number" -> option.type(Double.class);
      case "list" -> option.type(List.class).auxiliaryTypes(String.class);
      case "split" -> option.type(List.class).auxiliaryTypes(String.class).splitRegex(",");
      default -> option.type(String.class);
    };
  }

  private static String option(String key) {
    return (key.length() == 1 ? "-" : "--") + key;
  }

  /** Reads kinds in the singular, and in the plural that sentences have. */
  static final class Kinds implements ITypeConverter<FigureKind> {
    @Override
    public FigureKind convert(String word) {
      String singular = word.endsWith("s") ? word.substring(0, word.length() - 1) : word;
      return Stream.of(FigureKind.values())
          .filter(kind -> kind.word().equals(singular))
          .findFirst()
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "'%s' is no kind of figure; there are %s"
                          .formatted(
                              word,
                              Stream.of(FigureKind.values())
                                  .map(FigureKind::word)
                                  .collect(Collectors.joining(", ")))));
    }
  }

  @Nullable String only() {
    return (String) given("which").get("only");
  }

  /** The figure that is described; null where all is left to the config but how it looks. */
  @Nullable FigureSpec figure() throws ProblemException {
    SequencedMap<String, Object> shown = given("shown");
    if (shown.isEmpty()) {
      return null;
    }
    shown.putAll(given("which"));
    shown.putAll(looks());
    return FigureReader.ofOptions(shown, typed(shown));
  }

  FigureStyle style() throws ProblemException {
    SequencedMap<String, Object> looks = looks();
    return looks.isEmpty()
        ? FigureStyle.DEFAULT
        : FigureReader.ofOptions(looks, typed(looks)).style();
  }

  private SequencedMap<String, Object> looks() throws UsageException {
    SequencedMap<String, Object> looks = given("looks");
    if (looks.get("names") instanceof List<?> names) {
      looks.put("names", renamed(names.stream().map(String::valueOf).toList()));
    }
    return looks;
  }

  /** The values of a part that were typed, in the order of the table. */
  private SequencedMap<String, Object> given(String part) {
    SequencedMap<String, Object> given = new LinkedHashMap<>();
    parts
        .getOrDefault(part, new LinkedHashMap<>())
        .forEach(
            (key, option) -> {
              Object value = option.getValue();
              if (value != null) {
                given.put(key, value instanceof FigureKind kind ? kind.word() : value);
              }
            });
    return given;
  }

  /** Each key as the option that gave it. */
  private static SequencedMap<String, String> typed(SequencedMap<String, Object> given) {
    SequencedMap<String, String> options = new LinkedHashMap<>();
    given.keySet().forEach(key -> options.put(key, option(key)));
    return options;
  }

  /** A word, or an axis and its value, and a text. */
  private static final Pattern NAMED =
      Pattern.compile("(?<word>[^=]+)=(?:(?<value>[^=\\s]+)=)?(?<text>.*)", Pattern.DOTALL);

  /** Texts by a word, or by an axis and one of its values, as in {@code cq=gpu=GPU memory}. */
  static SequencedMap<String, String> renamed(List<String> names) throws UsageException {
    SequencedMap<String, String> renamed = new LinkedHashMap<>();
    for (String name : names) {
      Matcher parts = NAMED.matcher(name);
      if (!parts.matches()) {
        throw UsageException.wrong(
            "--names " + name,
            "it is no WORD=TEXT",
            "such as --names pull='NIC pull', or --names cq=gpu='GPU memory'");
      }
      boolean value =
          parts.group("value") != null
              && Schema.experiment().settings().containsKey(parts.group("word"));
      renamed.put(
          value ? parts.group("word") + "=" + parts.group("value") : parts.group("word"),
          value ? parts.group("text") : name.substring(parts.end("word") + 1));
    }
    return renamed;
  }
}
