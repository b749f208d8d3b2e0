/**
 * HCAs exchange packets: their headers as fields, the pool they come from, and the contract of
 * wires that carry them. The transport makes and understands packets; wires move them, and turn
 * them into bytes where they leave the process. Neither depends on the other.
 */
@NullMarked
package dev.doorbell.softhca.packet;

import org.jspecify.annotations.NullMarked;
