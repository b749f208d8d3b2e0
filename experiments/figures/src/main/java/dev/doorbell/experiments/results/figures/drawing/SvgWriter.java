package dev.doorbell.experiments.results.figures.drawing;

import dev.doorbell.experiments.results.figures.drawing.Node.Anchor;
import dev.doorbell.experiments.results.figures.drawing.Node.Fill;
import dev.doorbell.experiments.results.figures.drawing.Node.Group;
import dev.doorbell.experiments.results.figures.drawing.Node.Label;
import dev.doorbell.experiments.results.figures.drawing.Node.Stroke;
import dev.doorbell.experiments.results.figures.drawing.Node.Turn;
import dev.doorbell.experiments.results.figures.drawing.Outline.Segment;
import java.nio.charset.StandardCharsets;

/**
 * Writes a drawing as SVG 1.1 with presentation attributes alone, which papers' tools and browsers
 * all read.
 */
final class SvgWriter {
  /** Labels from this width on keep it in any typeface, so that they do not reach into others. */
  private static final double KEPT_WIDTH = 36;

  private final StringBuilder out = new StringBuilder(1 << 14);
  private int depth = 1;

  private SvgWriter() {}

  static byte[] write(Drawing drawing) {
    SvgWriter writer = new SvgWriter();
    writer.document(drawing);
    return writer.out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void document(Drawing drawing) {
    String width = number(drawing.width());
    String height = number(drawing.height());
    Provenance from = drawing.provenance();
    out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"").append(width);
    out.append("pt\" height=\"").append(height).append("pt\" viewBox=\"0 0 ");
    out.append(width).append(' ').append(height).append("\" role=\"img\" font-family=\"'");
    out.append(Typeface.NAME).append("', Arial, Helvetica, sans-serif\" font-kerning=\"none\">\n");
    out.append("  <title>").append(escape(from.title())).append("</title>\n");
    out.append("  <metadata>\n    <figure xmlns=\"urn:doorbell:figure\" run=\"");
    out.append(escape(from.run())).append("\" config=\"").append(escape(from.config()));
    from.commit().ifPresent(id -> out.append("\" commit=\"").append(escape(id)));
    out.append("\" basis=\"").append(escape(from.basis())).append("\"/>\n  </metadata>\n");
    out.append("  <path d=\"M0 0H").append(width).append('V').append(height);
    out.append("H0Z\" fill=\"#ffffff\"/>\n");
    drawing.nodes().forEach(this::node);
    out.append("</svg>\n");
  }

  private void node(Node node) {
    switch (node) {
      case Group group -> group(group);
      case Stroke stroke -> stroke(stroke);
      case Fill fill ->
          start("<path d=\"")
              .append(path(fill.outline()))
              .append("\" fill=\"")
              .append(fill.paint().hex())
              .append("\"/>\n");
      case Label label -> label(label);
    }
  }

  private StringBuilder start(String element) {
    return out.repeat("  ", depth).append(element);
  }

  private void group(Group group) {
    start("<g id=\"").append(escape(group.id()));
    if (!group.role().isEmpty()) {
      out.append("\" class=\"").append(escape(group.role()));
    }
    out.append("\">\n");
    depth++;
    group.nodes().forEach(this::node);
    depth--;
    start("</g>\n");
  }

  private void stroke(Stroke stroke) {
    start("<path d=\"").append(path(stroke.outline()));
    out.append("\" fill=\"none\" stroke=\"").append(stroke.paint().hex());
    out.append("\" stroke-width=\"").append(number(stroke.width()));
    if (stroke.dash().broken()) {
      out.append("\" stroke-dasharray=\"").append(number(stroke.dash().on()));
      out.append(' ').append(number(stroke.dash().off()));
    } else {
      out.append("\" stroke-linecap=\"round");
    }
    out.append("\" stroke-linejoin=\"round\"/>\n");
  }

  private void label(Label label) {
    String x = number(label.x());
    String y = number(label.y());
    start("<text x=\"").append(x).append("\" y=\"").append(y);
    out.append("\" font-size=\"").append(number(label.size()));
    if (label.anchor() != Anchor.START) {
      out.append("\" text-anchor=\"").append(label.anchor() == Anchor.END ? "end" : "middle");
    }
    if (label.turn() == Turn.UPWARDS) {
      out.append("\" transform=\"rotate(-90 ").append(x).append(' ').append(y).append(')');
    }
    double width = Typeface.width(label.text(), label.size());
    if (width >= KEPT_WIDTH) {
      out.append("\" textLength=\"").append(number(width));
      out.append("\" lengthAdjust=\"spacingAndGlyphs");
    }
    out.append("\" fill=\"").append(label.paint().hex()).append("\">");
    out.append(escape(label.text())).append("</text>\n");
  }

  private static String path(Outline outline) {
    StringBuilder d = new StringBuilder();
    for (Segment segment : outline.segments()) {
      d.append(segment.command());
      for (int i = 0; i < segment.places().length; i++) {
        d.append(i == 0 ? "" : " ").append(number(segment.places()[i]));
      }
    }
    return d.toString();
  }

  /** To the hundredth of a point, with no more digits than it needs. */
  static String number(double value) {
    long hundredths = Math.round(value * 100);
    long whole = Math.abs(hundredths) / 100;
    long rest = Math.abs(hundredths) % 100;
    String sign = hundredths < 0 ? "-" : "";
    if (rest == 0) {
      return sign + whole;
    }
    String fraction = rest % 10 == 0 ? Long.toString(rest / 10) : (rest < 10 ? "0" : "") + rest;
    return sign + whole + "." + fraction;
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
