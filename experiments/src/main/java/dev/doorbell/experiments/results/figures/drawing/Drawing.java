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
 * @param tables file names with the CSV that series name, and CSVs for other readers
 */
public record Drawing(
    double width,
    double height,
    Provenance provenance,
    List<Node> nodes,
    SequencedMap<String, String> tables) {

  public Drawing {
    nodes = List.copyOf(nodes);
    tables = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(tables));
  }

  public byte[] svg() {
    return SvgWriter.write(this);
  }

  public byte[] pdf() {
    return PdfWriter.write(this);
  }

  /**
   * Rendered from the PDF, 200 dots an inch.
   *
   * @param pdf the result of {@link #pdf}
   */
  public byte[] png(byte[] pdf) {
    return PngWriter.write(pdf, provenance);
  }

  /** A picture for LaTeX with pgfplots, which reads {@link #tables}. */
  public String pgfplots() {
    return PgfplotsWriter.write(this);
  }
}
