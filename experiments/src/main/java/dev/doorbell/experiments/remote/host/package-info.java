/** HCAs of more than one process, with the software HCA on wires that leave the process. */
@NullMarked
package dev.doorbell.experiments.remote.host;

import org.jspecify.annotations.NullMarked;
