package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import java.io.StringReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** An XML element with its attributes and its line. Document types and entities are ignored. */
record XmlNode(
    String file, String name, Map<String, String> attributes, List<XmlNode> children, int line) {
  /** Deeper files are no machines. */
  private static final int DEEPEST = 64;

  static XmlNode parse(String file, String text) throws ConfigException {
    XMLInputFactory factory = XMLInputFactory.newFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    ArrayDeque<XmlNode> open = new ArrayDeque<>();
    try {
      XMLStreamReader reader = factory.createXMLStreamReader(new StringReader(text));
      while (reader.hasNext()) {
        int event = reader.next();
        if (event == XMLStreamConstants.START_ELEMENT) {
          Map<String, String> attributes = new LinkedHashMap<>();
          for (int i = 0; i < reader.getAttributeCount(); i++) {
            attributes.put(reader.getAttributeLocalName(i), reader.getAttributeValue(i));
          }
          XmlNode node =
              new XmlNode(
                  file,
                  reader.getLocalName(),
                  attributes,
                  new ArrayList<>(),
                  reader.getLocation().getLineNumber());
          if (open.size() == DEEPEST) {
            throw node.problem("elements are nested deeper than %d".formatted(DEEPEST));
          }
          if (!open.isEmpty()) {
            open.getLast().children.add(node);
          }
          open.add(node);
        } else if (event == XMLStreamConstants.END_ELEMENT && open.size() > 1) {
          open.removeLast();
        }
      }
    } catch (XMLStreamException e) {
      int line = e.getLocation() == null ? 1 : e.getLocation().getLineNumber();
      throw problem(file, line, "this is no XML: " + text(e));
    }
    return open.getFirst();
  }

  private static String text(XMLStreamException e) {
    String message = String.valueOf(e.getMessage());
    int at = message.indexOf("Message: ");
    return (at < 0 ? message : message.substring(at + "Message: ".length()))
        .lines()
        .findFirst()
        .orElse("");
  }

  String get(String attribute) throws ConfigException {
    String value = attributes.get(attribute);
    if (value == null || value.isBlank()) {
      throw problem("<%s> has no %s".formatted(name, attribute));
    }
    return value;
  }

  int number(String attribute) throws ConfigException {
    String value = get(attribute);
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw problem("%s of <%s> is '%s', no whole number".formatted(attribute, name, value));
    }
  }

  ConfigException problem(String what) {
    return problem(file, line, what);
  }

  static ConfigException problem(String file, int line, String what) {
    return new ConfigException(
        List.of(
            Problem.of("DB-T020", "%s:%d".formatted(file, line), what)
                .effect("the machine was not read")
                .fix(
                    "write the file anew: NCCL_TOPO_DUMP_FILE=FILE, nvidia-smi topo -m, or lstopo --of xml")));
  }
}
