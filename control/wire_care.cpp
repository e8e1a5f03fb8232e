// What the commands that care for the history say, as JSON: gc and check.
#include "control/wire.h"

namespace unwrite::control {

Json encode(const overlay::Collected& collected) {
    return Json{{"nodes", collected.nodes},
                {"deltas", collected.deltas},
                {"objects", collected.objects},
                {"lost_objects", collected.lost.objects},
                {"lost_deltas", collected.lost.deltas}};
}

Result<> decode(const Json& json, overlay::Collected& collected) {
    return Fields(json)
        .get("nodes", collected.nodes)
        .get("deltas", collected.deltas)
        .get("objects", collected.objects)
        .get("lost_objects", collected.lost.objects)
        .get("lost_deltas", collected.lost.deltas)
        .done();
}

Json encode(const overlay::Checked& checked) {
    return Json{{"problems", encode_texts(checked.problems)},
                {"repaired", encode_texts(checked.repaired)},
                {"nodes", checked.nodes},
                {"deltas", checked.deltas},
                {"records", checked.records},
                {"bytes", checked.bytes},
                {"attic_objects", checked.attic_objects},
                {"lost_objects", checked.lost.objects},
                {"lost_deltas", checked.lost.deltas}};
}

Result<> decode(const Json& json, overlay::Checked& checked) {
    return Fields(json)
        .get("problems", checked.problems)
        .get("repaired", checked.repaired)
        .get("nodes", checked.nodes)
        .get("deltas", checked.deltas)
        .get("records", checked.records)
        .get("bytes", checked.bytes)
        .get("attic_objects", checked.attic_objects)
        .get("lost_objects", checked.lost.objects)
        .get("lost_deltas", checked.lost.deltas)
        .done();
}

Json encode(const overlay::Retention& retention) {
    return Json{{"max_age_seconds", retention.max_age_seconds},
                {"max_abandoned", retention.max_abandoned},
                {"max_bytes", retention.max_bytes},
                {"drop_lost", retention.drop_lost}};
}

Result<> decode(const Json& json, overlay::Retention& retention) {
    return Fields(json)
        .get("max_age_seconds", retention.max_age_seconds)
        .get("max_abandoned", retention.max_abandoned)
        .get("max_bytes", retention.max_bytes)
        .get("drop_lost", retention.drop_lost)
        .done();
}

}  // namespace unwrite::control
