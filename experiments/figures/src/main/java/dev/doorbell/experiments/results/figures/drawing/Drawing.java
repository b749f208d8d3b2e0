package dev.doorbell.experiments.results.figures.drawing;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A finished page.
 *
 * @param width points of 1/72 inch
 * @param height points; y grows downwards from 0
 * @param nodes in painting order, on white
 * @param tables file names with CSVs of what is shown
 * @param typeface of all texts
 */
public record Drawing(
    double width,
    double height,
    Provenance provenance,
    List<Node> nodes,
    SequencedMap<String, String> tables,
    Typeface typeface) {

  /** A page in the typeface that is drawn with. */
  public Drawing(
      double width,
      double height,
      Provenance provenance,
      List<Node> nodes,
      SequencedMap<String, String> tables) {
    this(width, height, provenance, nodes, tables, Typeface.current());
  }

  public Drawing {
    nodes = List.copyOf(nodes);
    tables = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tables));
  }

  /** The page and all that is on it, scaled by {@code factor}. */
  public Drawing scaled(double factor) {
    return factor == 1
        ? this
        : new Drawing(
            width * factor,
            height * factor,
            provenance,
            new Scaling(factor).nodes(nodes),
            tables,
            typeface);
  }

  public byte[] svg() {
    return typeface.during(() -> SvgWriter.write(this));
  }

  public byte[] pdf() {
    return typeface.during(() -> PdfWriter.write(this));
  }

  /**
   * Rendered from the PDF, 200 dots an inch.
   *
   * @param pdf the result of {@link #pdf}
   */
  public byte[] png(byte[] pdf) {
    return PngWriter.write(pdf, provenance);
  }

  /** A picture of TikZ for LaTeX. */
  public String tikz() {
    return typeface.during(() -> TikzWriter.write(this));
  }
}
