/**
 * Memory of client processes: the pages that they share, access to the rest, and the fabric whose
 * devices reach both.
 */
@NullMarked
package dev.doorbell.interop.shim.client;

import org.jspecify.annotations.NullMarked;
