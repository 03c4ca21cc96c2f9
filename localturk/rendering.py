"""Turn rows into the shapes of botocore's service model. Members without a value are left out, as MTurk does."""

from typing import Any

from localturk.models import (
    BonusPayment,
    Qualification,
    QualificationRequest,
    QualificationType,
    TurkAssignment,
    TurkHit,
    WorkerBlock,
)

Shape = dict[str, Any]


def dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def hit_shape(hit: TurkHit) -> Shape:
    kind = hit.hit_type
    return _drop_missing(
        HITId=hit.hit_id,
        HITTypeId=kind.hit_type_id,
        HITGroupId=kind.hit_group_id,
        CreationTime=hit.created_at,
        Title=kind.title,
        Description=kind.description,
        Question=hit.question,
        Keywords=kind.keywords,
        HITStatus=hit.status,
        MaxAssignments=hit.max_assignments,
        Reward=dollars(kind.reward_cents),
        AutoApprovalDelayInSeconds=kind.auto_approval_delay_seconds,
        Expiration=hit.expires_at,
        AssignmentDurationInSeconds=kind.assignment_duration_seconds,
        RequesterAnnotation=hit.requester_annotation or None,
        QualificationRequirements=kind.qualification_requirements,
        HITReviewStatus=hit.review_status,
        NumberOfAssignmentsPending=hit.pending_count,
        NumberOfAssignmentsAvailable=hit.available_count,
        NumberOfAssignmentsCompleted=hit.completed_count,
    )


def assignment_shape(assignment: TurkAssignment) -> Shape:
    return _drop_missing(
        AssignmentId=assignment.assignment_id,
        WorkerId=assignment.worker.worker_id,
        HITId=assignment.hit.hit_id,
        AssignmentStatus=assignment.status,
        AutoApprovalTime=assignment.auto_approval_at,
        AcceptTime=assignment.accepted_at,
        SubmitTime=assignment.submitted_at,
        ApprovalTime=assignment.approved_at,
        RejectionTime=assignment.rejected_at,
        Deadline=assignment.deadline_at,
        Answer=assignment.answer,
        RequesterFeedback=assignment.requester_feedback or None,
    )


def bonus_shape(bonus: BonusPayment) -> Shape:
    return {
        "WorkerId": bonus.worker.worker_id,
        "BonusAmount": dollars(bonus.amount_cents),
        "AssignmentId": bonus.assignment.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }


def qualification_type_shape(kind: QualificationType) -> Shape:
    return _drop_missing(
        QualificationTypeId=kind.qualification_type_id,
        CreationTime=kind.created_at,
        Name=kind.name,
        Description=kind.description,
        Keywords=kind.keywords or None,
        QualificationTypeStatus=kind.status,
        Test=kind.test or None,
        TestDurationInSeconds=kind.test_duration_seconds,
        AnswerKey=kind.answer_key or None,
        RetryDelayInSeconds=kind.retry_delay_seconds,
        IsRequestable=True,
        AutoGranted=kind.is_auto_granted,
        AutoGrantedValue=kind.auto_granted_value if kind.is_auto_granted else None,
    )


def qualification_shape(qualification: Qualification) -> Shape:
    return _drop_missing(
        QualificationTypeId=qualification.qualification_type.qualification_type_id,
        WorkerId=qualification.worker.worker_id,
        GrantTime=qualification.granted_at,
        IntegerValue=qualification.integer_value,
        Status=qualification.status,
    )


def request_shape(request: QualificationRequest) -> Shape:
    return _drop_missing(
        QualificationRequestId=request.request_id,
        QualificationTypeId=request.qualification_type.qualification_type_id,
        WorkerId=request.worker.worker_id,
        Test=request.qualification_type.test or None,
        Answer=request.answer or None,
        SubmitTime=request.submitted_at,
    )


def block_shape(block: WorkerBlock) -> Shape:
    return {"WorkerId": block.worker.worker_id, "Reason": block.reason}


def _drop_missing(**members: Any) -> Shape:
    return {name: value for name, value in members.items() if value is not None}
