package dev.doorbell.experiments.doctor;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The ports of another host, from what its doctor printed with {@code --json}.
 *
 * @param source the file's name, for messages
 */
public record Peer(String source, List<Port> ports) {
  /**
   * A port.
   *
   * @param mtu RDMA MTU, 0 where the host could not tell
   * @param ipv4 whether it has a RoCE v2 GID with an IPv4 address
   */
  public record Port(String name, String linkLayer, boolean active, int mtu, boolean ipv4) {}

  /** A file that is no report of a doctor. */
  public static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
      super(message);
    }
  }

  public Peer {
    ports = List.copyOf(ports);
  }

  /** Reads a report. */
  public static Peer read(String source, String text) throws UnreadableException {
    try {
      JsonNode root = JsonMapper.shared().readTree(text);
      if (!root.path("ports").isArray()) {
        throw new UnreadableException("it has no list of ports");
      }
      List<Port> ports = new ArrayList<>();
      for (JsonNode port : root.path("ports")) {
        ports.add(
            new Port(
                port.path("device").asString("") + ":" + port.path("port").asInt(0),
                port.path("linkLayer").asString(""),
                port.path("state").asString("").equals("ACTIVE"),
                port.path("mtu").asInt(0),
                port.path("roceV2Ipv4").asBoolean(false)));
      }
      return new Peer(source, ports);
    } catch (JacksonException e) {
      throw new UnreadableException("it is no JSON: " + e.getOriginalMessage());
    }
  }

  List<Port> active() {
    return ports.stream().filter(Port::active).toList();
  }
}
