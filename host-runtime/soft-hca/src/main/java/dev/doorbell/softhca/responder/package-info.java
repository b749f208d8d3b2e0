/**
 * The receiving half of a queue pair: requests of the peer are checked, carried out once and in
 * order, and answered on reliable connections.
 */
@NullMarked
package dev.doorbell.softhca.responder;

import org.jspecify.annotations.NullMarked;
