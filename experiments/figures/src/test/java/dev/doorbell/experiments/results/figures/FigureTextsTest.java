package dev.doorbell.experiments.results.figures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.results.figures.drawing.Typeface;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.pdfbox.pdmodel.font.PDType1Font;
import org.apache.pdfbox.pdmodel.font.Standard14Fonts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No two texts of a figure overlap and none leaves the canvas, in the typeface that it was laid out
 * with, in a bold one, and in one that is 15 % wider.
 */
class FigureTextsTest {
  private static final Pattern TEXT = Pattern.compile("<text ([^>]*)>([^<]*)</text>");
  private static final Pattern CANVAS = Pattern.compile("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"");
  private static final PDType1Font BOLD = new PDType1Font(Standard14Fonts.FontName.HELVETICA_BOLD);

  /** Boxes that touch by less are taken to be apart, points. */
  private static final double SLACK = 0.3;

  private interface Font {
    double width(String text, double size) throws IOException;
  }

  private static final List<Font> FONTS =
      List.of(
          Typeface::width,
          (text, size) -> 1.15 * Typeface.width(text, size),
          FigureTextsTest::bold);

  private record Box(String text, double left, double top, double right, double bottom) {
    boolean meets(Box other) {
      return left + SLACK < other.right
          && other.left + SLACK < right
          && top + SLACK < other.bottom
          && other.top + SLACK < bottom;
    }
  }

  @ParameterizedTest
  @EnumSource
  void texts_of_every_kind_of_figure_keep_apart(FigureKind kind) throws Exception {
    for (var drawing : PlotsTest.plots(kind).drawings().entrySet()) {
      check(drawing.getKey(), new String(drawing.getValue().svg(), StandardCharsets.UTF_8));
    }
  }

  static Stream<Path> committed() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String folder :
        List.of(
            "validation",
            "../docs/gallery",
            "../papers/pull-vs-push/generated/figures",
            "../papers/many-ranks/generated/figures")) {
      try (Stream<Path> there = Files.list(Path.of(folder))) {
        there.filter(file -> file.toString().endsWith(".svg")).sorted().forEach(files::add);
      }
    }
    assertThat(files).isNotEmpty();
    return files.stream();
  }

  @ParameterizedTest
  @MethodSource("committed")
  void texts_of_committed_figures_keep_apart(Path file) throws IOException {
    check(file.toString(), Files.readString(file));
  }

  @Test
  void the_check_notices_texts_that_meet() throws IOException {
    String two =
        "<svg viewBox=\"0 0 100 20\"><text x=\"5\" y=\"10\" font-size=\"7\">latency</text>"
            + "<text x=\"%s\" y=\"10\" font-size=\"7\">of puts</text></svg>";
    assertThat(faults(two.formatted("40"))).isEmpty();
    assertThat(faults(two.formatted("20"))).isNotEmpty();
    assertThat(faults(two.formatted("90"))).isNotEmpty();
  }

  static void check(String name, String svg) throws IOException {
    assertThat(faults(svg)).as(name).isEmpty();
  }

  private static List<String> faults(String svg) throws IOException {
    Matcher canvas = CANVAS.matcher(svg);
    assertThat(canvas.find()).isTrue();
    double width = Double.parseDouble(canvas.group(1));
    double height = Double.parseDouble(canvas.group(2));
    List<String> faults = new ArrayList<>();
    for (Font font : FONTS) {
      List<Box> boxes = new ArrayList<>();
      Matcher texts = TEXT.matcher(svg);
      while (texts.find()) {
        Box box = box(texts.group(1), texts.group(2), font);
        boolean inside =
            box.left > -SLACK
                && box.top > -SLACK
                && box.right < width + SLACK
                && box.bottom < height + SLACK;
        if (!inside) {
          faults.add("'%s' leaves the canvas".formatted(box.text));
        }
        boxes.stream()
            .filter(box::meets)
            .forEach(other -> faults.add("'%s' meets '%s'".formatted(other.text, box.text)));
        boxes.add(box);
      }
    }
    return faults;
  }

  private static Box box(String attributes, String escaped, Font font) throws IOException {
    String text = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    double x = number(attributes, "x");
    double y = number(attributes, "y");
    double size = number(attributes, "font-size");
    double width = font.width(text, size);
    double back =
        attributes.contains("\"end\"") ? width : attributes.contains("\"middle\"") ? width / 2 : 0;
    double up = 0.72 * size;
    double down = 0.1 * size;
    return attributes.contains("rotate(-90")
        ? new Box(text, x - up, y - width + back, x + down, y + back)
        : new Box(text, x - back, y - up, x - back + width, y + down);
  }

  private static double number(String attributes, String name) {
    Matcher found = Pattern.compile("(?:^| )%s=\"([0-9.-]+)\"".formatted(name)).matcher(attributes);
    assertThat(found.find()).as(name + " in " + attributes).isTrue();
    return Double.parseDouble(found.group(1));
  }

  /** Helvetica-Bold has Latin letters alone; others count as wide as an n. */
  private static double bold(String text, double size) throws IOException {
    return BOLD.getStringWidth(text.replaceAll("[^ -~]", "n")) / 1000 * size;
  }
}
