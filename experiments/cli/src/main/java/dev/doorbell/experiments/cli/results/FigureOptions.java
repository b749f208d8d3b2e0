package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.schema.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

final class FigureOptions {
  @Option(
      names = "--kind",
      paramLabel = "KIND",
      converter = Kinds.class,
      description =
          "line, cdf, bar, heatmap, timeline or tornado (default: line; "
              + "without options that say what is shown, all that the config asks for).")
  private @Nullable FigureKind kind;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the files (default: made of what is shown).")
  private @Nullable String name;

  @Option(
      names = "-x",
      paramLabel = "AXIS",
      description = "What lies on the abscissa; what bars stand side by side for.")
  private @Nullable String x;

  @Option(
      names = "-y",
      paramLabel = "METRIC",
      description = "What is shown, such as latency; of lines and bars a counter, too.")
  private @Nullable String metric;

  @Option(
      names = "--per",
      paramLabel = "METRIC",
      description = "Metric or counter that -y is divided by.")
  private @Nullable String per;

  @Option(
      names = "--statistic",
      paramLabel = "STATISTIC",
      description = "median, mean, min, max or a percentile such as p99 (default: median).")
  private @Nullable String statistic;

  @Option(
      names = "--relative",
      paramLabel = "SERIES",
      description = "Show all series as multiples of this one.")
  private @Nullable String relative;

  @Option(
      names = "--series",
      paramLabel = "AXIS",
      description = "One line, bar or colour for each of its values.")
  private @Nullable String series;

  @Option(names = "--facet", paramLabel = "AXIS", description = "One panel for each of its values.")
  private @Nullable String facet;

  @Option(names = "--rows", paramLabel = "AXIS", description = "The ordinate of a heat map.")
  private @Nullable String rows;

  @Option(
      names = "--only",
      paramLabel = "CONDITIONS",
      description = "A part of the run, such as 'size<=4K,path=pull|push.bf'.")
  private @Nullable String only;

  @Option(
      names = "--logx",
      arity = "1",
      paramLabel = "true|false",
      description = "Whether the abscissa of lines is logarithmic.")
  private @Nullable Boolean logX;

  @Option(
      names = "--logy",
      arity = "1",
      paramLabel = "true|false",
      description = "Whether the ordinate of lines is.")
  private @Nullable Boolean logY;

  @Option(
      names = "--share",
      paramLabel = "PERCENT",
      description = "How far a tornado moves a constant without an interval (default: 20).")
  private @Nullable Double percent;

  @Option(
      names = "--names",
      paramLabel = "WORD=TEXT",
      description =
          "Text in place of an axis, a metric or a value: --names pull='NIC pull', or"
              + " --names cq=gpu='GPU memory' for a value of one axis. May be given several times.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--order",
      split = ",",
      paramLabel = "SERIES",
      description = "Series that come first, in this order.")
  private List<String> order = new ArrayList<>();

  @Option(names = "--title", paramLabel = "TEXT", description = "Title above the figure.")
  private @Nullable String title;

  @Option(
      names = "--caption",
      paramLabel = "TEXT",
      description = "What it shows, in the files' own titles.")
  private @Nullable String caption;

  @Option(
      names = "--width",
      paramLabel = "WIDTH",
      description = "column (84 mm), page (178 mm), or such as 85mm.")
  private @Nullable String width;

  @Option(names = "--font", paramLabel = "FILE", description = "TrueType file of the text.")
  private @Nullable String font;

  @Option(
      names = "--fontsize",
      paramLabel = "POINTS",
      description = "Size of the text; lines and markers grow with it (default: 7).")
  private @Nullable Double fontSize;

  @Option(names = "--xrange", paramLabel = "A..B", description = "Ends of the abscissa: 64..64K.")
  private @Nullable String xRange;

  @Option(names = "--yrange", paramLabel = "A..B", description = "Ends of the ordinate: 0..40.")
  private @Nullable String yRange;

  @Option(names = "--xunit", paramLabel = "UNIT", description = "Unit of the abscissa: KiB.")
  private @Nullable String xUnit;

  @Option(names = "--yunit", paramLabel = "UNIT", description = "Unit of the ordinate: us, Gb/s.")
  private @Nullable String yUnit;

  @Option(
      names = "--legend",
      paramLabel = "PLACE",
      description = "top, bottom, right, none, or a corner such as top-left.")
  private @Nullable String legend;

  @Option(
      names = "--footer",
      arity = "1",
      paramLabel = "true|false",
      description = "Whether basis, samples and run are printed below.")
  private @Nullable Boolean footer;

  @Option(
      names = "--palette",
      paramLabel = "PALETTE",
      description = "okabe-ito, bright, grey, or colours: '#0072B2,#D55E00'.")
  private @Nullable String palette;

  @Option(
      names = "--annotate",
      paramLabel = "NOTE",
      description =
          "'y=25: line rate', 'x=4K: MTU' or 'x=4K,y=3: here'. May be given several times.")
  private List<String> annotations = new ArrayList<>();

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
    return only;
  }

  /** The figure that is described; null where all is left to the config but how it looks. */
  @Nullable FigureSpec figure() throws ProblemException {
    SequencedMap<String, Object> shown = new LinkedHashMap<>();
    put(shown, "kind", kind == null ? null : kind.word());
    put(shown, "x", x);
    put(shown, "y", metric);
    put(shown, "per", per);
    put(shown, "statistic", statistic);
    put(shown, "relative", relative);
    put(shown, "series", series);
    put(shown, "facet", facet);
    put(shown, "rows", rows);
    put(shown, "logx", logX);
    put(shown, "logy", logY);
    put(shown, "share", percent);
    if (shown.isEmpty()) {
      return null;
    }
    put(shown, "name", name);
    put(shown, "only", only);
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
    SequencedMap<String, Object> looks = new LinkedHashMap<>();
    put(looks, "names", names.isEmpty() ? null : renamed(names));
    put(looks, "order", order.isEmpty() ? null : order);
    put(looks, "title", title);
    put(looks, "caption", caption);
    put(looks, "width", width);
    put(looks, "font", font);
    put(looks, "fontsize", fontSize);
    put(looks, "xrange", xRange);
    put(looks, "yrange", yRange);
    put(looks, "xunit", xUnit);
    put(looks, "yunit", yUnit);
    put(looks, "legend", legend);
    put(looks, "footer", footer);
    put(looks, "palette", palette);
    put(looks, "annotate", annotations.isEmpty() ? null : annotations);
    return looks;
  }

  private static void put(SequencedMap<String, Object> given, String key, @Nullable Object value) {
    if (value != null) {
      given.put(key, value);
    }
  }

  /** Each key as the option that gave it. */
  private static SequencedMap<String, String> typed(SequencedMap<String, Object> given) {
    SequencedMap<String, String> options = new LinkedHashMap<>();
    given.keySet().forEach(key -> options.put(key, (key.length() == 1 ? "-" : "--") + key));
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
